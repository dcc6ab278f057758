import { problemText } from '../../operate/rules/problems.ts';
import { shortTime } from '../../documents/words.ts';
import { pasteable } from '../../../base/invocation.ts';
import { printable } from '../../../base/words.ts';
import { cut, styled, toned, wrapped, type Screen } from '../../../cli/shared/terminal.ts';
import { eventLine } from '../../feed/line.ts';
import { judgeStatus, type StatusVerdict } from './problems.ts';
import type { Status } from './status.ts';
import { daemonText, ordersText, verdictLine } from './text.ts';

export function watchText(status: Status, screen: Screen, rows: number): string {
  const { asOf, daemon, overview } = status;
  const verdict = judgeStatus(status);
  const [tone, sentence] = verdictLine(verdict, status);
  const linesOf = (text: string, indent = 0) => wrapped(text, screen.width, indent).split('\n');
  const facts = [`daemon  ${daemonText(daemon, Date.parse(asOf))}`, `orders  ${ordersText(overview)}`].flatMap((text) =>
    linesOf(text, 8),
  );
  // The verdict and two empty lines need three more rows.
  const room = Math.max(2, rows - facts.length - 3);
  const problems = problemLines(verdict, screen, Math.ceil(room / 2));
  const events = overview.newest
    .toReversed()
    .flatMap((event) => linesOf(eventLine(event, screen, overview.account === null).trimEnd()));
  return [
    `${toned(tone, sentence, screen)} As of ${shortTime(asOf, new Date(asOf))} UTC.`,
    ...problems,
    '',
    ...facts,
    '',
    ...events.slice(-Math.max(1, room - problems.length)),
  ]
    .slice(0, Math.max(1, rows))
    .join('\n');
}

function problemLines({ reasons }: StatusVerdict, screen: Screen, most: number): readonly string[] {
  const lines: string[] = [];
  for (const [index, problem] of reasons.entries()) {
    const remedy = wrapped(printable(pasteable(problem.remedy)), screen.width, 4).split('\n');
    const isLast = index === reasons.length - 1;
    if (index > 0 && lines.length + 1 + remedy.length + (isLast ? 0 : 1) > most) {
      return [...lines, `  and ${reasons.length - index} more: ${pasteable('order-sync status')}`];
    }
    lines.push(`  ${toned(problem.severity, cut(printable(problemText(problem)), screen.width - 2), screen)}`);
    lines.push(...remedy.map((line, row) => `${row === 0 ? '    ' : ''}${styled('dim', line, screen)}`));
  }
  return lines;
}
