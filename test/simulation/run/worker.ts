import { openGround, replayedIn } from '../ground.ts';
import { modeOf } from '../modes/modes.ts';

/** Lives through the worlds that it is sent the seeds of, in a process of its own. */
const [name = '', folder = ''] = process.argv.slice(2);
const mode = modeOf(name);
const ground = replayedIn(name, openGround(folder));

process.on('message', (seed: number) => {
  mode.run(seed, ground).then(
    // The trace is long, and the same again for whoever wants to see it.
    (outcome) => process.send?.({ ...outcome, trace: [] }),
    (error: unknown) => {
      const violation = `no bug: ${error instanceof Error ? error.stack : String(error)}`;
      process.send?.({ seed, counts: {}, trace: [], violation });
    },
  );
});
process.on('disconnect', () => process.exit());
