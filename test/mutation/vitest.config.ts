import { defineConfig } from 'vitest/config';

/** The tests that mutants are tried with, on SQLite. The runner of the mutants names the files in `MUTATION_TESTS`, as JSON. */
export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[],
    provide: { dialect: 'sqlite' },
    pool: 'threads',
    isolate: false,
    // Code with all mutants in it takes several times longer. The runner ends a mutant that would not end.
    testTimeout: 60_000,
    unstubEnvs: true,
    restoreMocks: true,
  },
});
