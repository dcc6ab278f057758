import { markdownTable } from '../../proof/markdown.ts';
import type { PlantedBug } from './bug.ts';

const BEGIN = '<!-- begin: written by `npm run planted -- --find` -->';
const END = '<!-- end: written by `npm run planted -- --find` -->';

/** The page with the table of the planted bugs in place of the one that stood there. */
export function pageWith(page: string, bugs: readonly PlantedBug[]): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`the page lacks the lines ${BEGIN} and ${END}: put them back`);
  return `${before}${BEGIN}\n\n${written(bugs)}\n\n${END}${after}`;
}

function written(bugs: readonly PlantedBug[]): string {
  const rows = bugs.map(({ name, text, breaks, mode, notCaught }) => {
    const promise = breaks.source.replaceAll('|', ', ');
    const caughtBy = notCaught === undefined ? promise : `not caught: ${notCaught}`;
    return [`\`${name}\``, text, mode === undefined ? caughtBy : `${caughtBy} (\`${mode}\`)`];
  });
  return markdownTable(['planted bug', 'what it changes', 'the promise that catches it'], rows);
}
