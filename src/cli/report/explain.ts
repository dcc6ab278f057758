import { Argument, type Command } from 'commander';
import { FINDING_CLASSES, GUESSED_CLASSES, SEVERITIES, type FindingClassName } from '../../domain/findings/classes.ts';
import { fieldsText, toned, wrapped, type Screen } from '../../reports/formats/terminal.ts';
import { screenOf } from '../shared/help.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];

export function define(command: Command): void {
  command
    .description('what a class of findings means and what to do about it; all classes unless one is named')
    .addArgument(new Argument('[class]').choices(CLASSES))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync report explain AMOUNT_MISMATCH')
    .action((name: FindingClassName | undefined, { json }: { json?: boolean }) => {
      const asked = (name === undefined ? CLASSES : [name]).map((one) => ({ class: one, ...FINDING_CLASSES[one] }));
      if (json === true) process.stdout.write(`${JSON.stringify(asked, null, 2)}\n`);
      else process.stdout.write(name === undefined ? everyClass(screenOf()) : explained(name, screenOf()));
    });
}

function explained(name: FindingClassName, screen: Screen): string {
  const { severity, kind, meaning, advice } = FINDING_CLASSES[name];
  const ends =
    kind === 'state'
      ? 'It resolves itself when it is no longer true, and opens again when it comes back.'
      : 'It happened: it stands until a person acknowledges it with order-sync findings ack.';
  const guess = GUESSED_CLASSES.includes(name)
    ? ['It rests on a guess about the exchange: if it means nothing at yours, name it in reconcile.ignore.']
    : [];
  const lines = [meaning, `What to do: ${advice}`, ends, ...guess].map((line) => `${wrapped(line, screen.width)}\n`);
  return `${name} (${toned(severity, severity, screen)})\n${lines.join('')}`;
}

function everyClass(screen: Screen): string {
  const widest = Math.max(...CLASSES.map(({ length }) => length));
  const parts = SEVERITIES.map((severity) => {
    const classes = CLASSES.filter((name) => FINDING_CLASSES[name].severity === severity);
    const fields = classes.map((name) => ({ label: name, value: FINDING_CLASSES[name].meaning }));
    return `${toned(severity, severity, screen)}\n${fieldsText(fields, screen, widest)}\n`;
  });
  return `${parts.join('')}What to do about one: order-sync report explain CLASS\n`;
}
