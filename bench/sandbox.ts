import { systemClock } from '../src/base/clock.ts';
import { seededRandom } from '../src/extensions/sandbox/random.ts';
import { SCENARIOS, type Scenario } from '../src/extensions/sandbox/scenario.ts';
import { startSandbox } from '../src/extensions/sandbox/server.ts';
import { serve } from './child.ts';
import { machineMs } from './process.ts';
import type { SandboxMessage, SandboxReady } from './round.ts';
import { KEY } from './settings.ts';

/** The sandbox exchange, in a process of its own. Orders change when they are told to, a stage at a time. */
const STAGE_MS = 3_600_000;
const stages = SCENARIOS['completed']?.steps ?? [];
const scenario: Scenario = {
  appearsAfterMs: STAGE_MS,
  steps: stages.map((step) => ({ ...step, afterMs: STAGE_MS })),
};
const clock = systemClock();
const arrivals = new Map<string, PromiseWithResolvers<number>>();
let aheadMs = 0;
const sandbox = await startSandbox({
  apiKey: KEY,
  random: seededRandom(1),
  scenarioOf: () => scenario,
  clock: { ...clock, now: () => new Date(clock.now().getTime() + aheadMs), monotonic: machineMs },
  onRequest: ({ method, externalOrderId = '', monotonic }) => {
    if (method === 'POST') arrivalOf(externalOrderId).resolve(monotonic);
  },
});

const ready: SandboxReady = { url: sandbox.url, stages: 1 + stages.length, stageMs: STAGE_MS };
serve<SandboxMessage>(ready, async (message) => {
  if (message.kind === 'arrival') return await arrivalOf(message.id).promise;
  aheadMs += STAGE_MS;
  return {};
});

function arrivalOf(id: string): PromiseWithResolvers<number> {
  const known = arrivals.get(id) ?? Promise.withResolvers<number>();
  arrivals.set(id, known);
  return known;
}
