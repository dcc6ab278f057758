import { systemClock } from '../src/clock.ts';
import { seededRandom } from '../src/sandbox/random.ts';
import { SCENARIOS, type Scenario } from '../src/sandbox/scenario.ts';
import { startSandbox } from '../src/sandbox/server.ts';
import { serve } from './child.ts';

/** The key that the sandbox takes. */
const [key = ''] = process.argv.slice(2);

/** The sandbox exchange, in a process of its own. Orders change when they are told to, a stage at a time. */
const STAGE_MS = 3_600_000;
const stages = SCENARIOS['completed']?.steps ?? [];
const scenario: Scenario = {
  appearsAfterMs: STAGE_MS,
  steps: stages.map((step) => ({ ...step, afterMs: STAGE_MS })),
};
const clock = systemClock();
let aheadMs = 0;
const sandbox = await startSandbox({
  apiKey: key,
  random: seededRandom(1),
  scenarioOf: () => scenario,
  clock: {
    ...clock,
    now: () => new Date(clock.now().getTime() + aheadMs),
    // The machine's own, which every process here reads the same.
    monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  },
});

serve({ url: sandbox.url, stages: 1 + stages.length }, () => {
  aheadMs += STAGE_MS;
  return {};
});
