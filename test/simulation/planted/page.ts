import { fileURLToPath } from 'node:url';
import { markdownTable } from '../../proof/markdown.ts';
import type { PlantedBug } from './bug.ts';

/** The page of the reference that lists the planted bugs. */
export const PLANTED_PAGE = fileURLToPath(new URL('../../../docs/reference/planted-bugs.md', import.meta.url));

/** The text of that page. */
export function pageOf(bugs: readonly PlantedBug[]): string {
  const rows = bugs.map(({ name, text, breaks, mode, notCaught }) => {
    const promise = breaks.source.replaceAll('|', ', ');
    const caughtBy = notCaught === undefined ? promise : `not caught: ${notCaught}`;
    return [`\`${name}\``, text, mode === undefined ? caughtBy : `${caughtBy} (\`${mode}\`)`];
  });
  const caught = bugs.filter(({ notCaught }) => notCaught === undefined).length;
  const about =
    `Bugs that a good engineer could make. \`npm run planted\` plants each into the program, and the simulation catches ${caught} of ` +
    `${bugs.length}; the table says why it cannot catch the others. [How the promises are tried](../reliability.md#planted-bugs) ` +
    'explains the trial. `npm run planted -- --find` writes this page.';
  const table = markdownTable(['planted bug', 'what it changes', 'the promise that catches it'], rows);
  return `# Planted bugs\n\n${about}\n\n${table}\n`;
}
