import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // More than the smallest machine has cores: most files wait for processes.
    maxWorkers: 4,
    // Far above what any test takes: a test fails by what it sees, never by the speed of the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    restoreMocks: true,
  },
});
