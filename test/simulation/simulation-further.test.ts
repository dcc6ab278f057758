import { keepsEveryPromise } from './worlds.ts';

// A file of its own, so that two cores share the work.
keepsEveryPromise(151, 150);
