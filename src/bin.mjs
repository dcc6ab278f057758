#!/usr/bin/env node
// This file runs on Node 20 and newer, because it imports only the runtime, which has no dependencies.
import runtime from './runtime.cjs';

runtime.requireDependencies();
// A report reads each row once, so a large young generation takes memory without a gain.
const memory = process.argv.includes('report') ? ['--max-semi-space-size=2', '--optimize-for-size'] : [];
runtime.runNode([...runtime.NODE_FLAGS, ...memory, ...runtime.PROGRAM, ...process.argv.slice(2)]);
