import type { Extension } from '../../cli/extension.ts';

/** Finds by time which orders wait for too long, and compares records that were not compared yet. */
export const sweep: Extension = {
  name: 'sweep',
  parts: async () => ({ sweeps: [(await import('./sweep.ts')).findingsSweep] }),
};
