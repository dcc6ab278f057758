#!/usr/bin/env node
// Runs on any Node from 20 on: imports nothing but the runtime, which needs no dependencies.
import runtime from './runtime.cjs';

runtime.requireDependencies();
// A report reads each row once. A young generation that grew with them would only take memory.
const memory = process.argv.includes('report') ? ['--max-semi-space-size=2', '--optimize-for-size'] : [];
runtime.runNode([...runtime.NODE_FLAGS, ...memory, ...runtime.PROGRAM, ...process.argv.slice(2)]);
