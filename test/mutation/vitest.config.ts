import { defineConfig } from 'vitest/config';

/** The tests that mutants are tried with, on SQLite. The runner of the mutants names the files in `MUTATION_TESTS`. */
export default defineConfig({
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    provide: { dialect: 'sqlite' },
    pool: 'threads',
    isolate: false,
    unstubEnvs: true,
    restoreMocks: true,
  },
});
