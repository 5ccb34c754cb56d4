import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['server/**/*.test.ts', 'contract/**/*.test.ts', 'bench/**/*.test.ts', 'e2e/**/*.test.ts', '*.test.ts'],
    globalSetup: ['server/testing/global-setup.ts'],
    setupFiles: ['server/testing/shut-network.ts'],
    // Each file may hold a PGlite of half a gigabyte; two cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: { TZ: 'Asia/Shanghai' },
  },
});
