import type { Extension } from '../../cli/extension.ts';

/** Finds orders that wait for too long, and compares records that were not compared yet. */
export const sweep: Extension = {
  name: 'sweep',
  parts: async () => ({ sweeps: [(await import('./sweep.ts')).findingsSweep] }),
};
