import { Argument, type Command } from 'commander';
import { FINDING_CLASSES, type FindingClass, type FindingClassName } from '../../domain/findings/classes.ts';
import type { Column } from '../../reports/formats/document.ts';
import { tableOf } from '../../reports/formats/terminal/layout.ts';
import { screenOf } from '../shared/screen.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];

const COLUMNS: readonly Column[] = [
  { key: 'class', label: 'class', kind: 'text' },
  { key: 'severity', label: 'severity', kind: 'severity' },
  { key: 'meaning', label: 'meaning', kind: 'text' },
];

/** `order-sync report explain`: the meaning of the classes of findings. */
export function define(command: Command): void {
  command
    .description('what a class of findings means and what to do about it; all classes unless one is named')
    .addArgument(new Argument('[class]').choices(CLASSES))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync report explain AMOUNT_MISMATCH')
    .action((name: FindingClassName | undefined, { json }: { json?: boolean }) => {
      const named = (one: FindingClassName): { class: string } & FindingClass => ({
        class: one,
        ...FINDING_CLASSES[one],
      });
      const asked = name === undefined ? CLASSES.map(named) : [named(name)];
      if (json === true) process.stdout.write(`${JSON.stringify(asked, null, 2)}\n`);
      else if (name === undefined) {
        const rows = asked.map(({ class: one, severity, meaning }) => ({ class: one, severity, meaning }));
        process.stdout.write(tableOf(COLUMNS, rows, screenOf()));
      } else process.stdout.write(explained(name, FINDING_CLASSES[name]));
    });
}

function explained(name: string, { severity, kind, meaning, advice }: FindingClass): string {
  const ends =
    kind === 'state'
      ? 'It resolves itself when it is no longer true, and opens again when it comes back.'
      : 'It happened: it stands until a person acknowledges it with order-sync findings ack.';
  return `${name} (${severity})\n${meaning}\nWhat to do: ${advice}\n${ends}\n`;
}
