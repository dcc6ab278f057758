import type { Command } from 'commander';
import { readJson, withDigits } from '../../exchange/json.ts';
import { tableOf, textColumns } from '../../reports/formats/terminal/layout.ts';
import { ask } from '../shared/exchange.ts';
import { screenOf } from '../shared/screen.ts';

/** The fields of a card that are shown without `--reveal`, its number masked. A field that the interface does not name is a secret. */
const SHOWN = ['id', 'bank', 'country', 'number', 'type'] as const;
const REVEALED = [...SHOWN, 'token'] as const;
/** A number of fewer digits is hidden whole: its last four would be most of it. */
const SHORTEST_NUMBER = 8;

type Card = Record<string, string | null>;

/** `order-sync customer cards` (§4.7). */
export function define(command: Command): void {
  command
    .argument('<linkId>')
    .option('--reveal', 'show card numbers and tokens as the exchange gives them')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync customer cards 7f1c2a')
    .action(async (linkId: string, { reveal, json }: { reveal?: boolean; json?: boolean }) => {
      const { body } = await ask(command, 'listCards', { linkId });
      process.stdout.write(reveal === true ? revealed(body, json === true) : masked(body, json === true));
    });
}

function revealed(body: string, asJson: boolean): string {
  return asJson ? `${body}\n` : cardsText(rows(body, REVEALED), REVEALED);
}

function masked(body: string, asJson: boolean): string {
  const cards = rows(body, SHOWN).map((card) => ({ ...card, number: maskNumber(card['number'] ?? null) }));
  return asJson ? `${JSON.stringify(cards, null, 2)}\n` : cardsText(cards, SHOWN);
}

function cardsText(cards: readonly Card[], names: readonly string[]): string {
  return cards.length === 0 ? 'no card is saved\n' : tableOf(textColumns(...names), cards, screenOf());
}

/** Picks fields of each card; a numeric id becomes text. The client has checked that the body is a list of cards. */
function rows(body: string, names: readonly (typeof REVEALED)[number][]): Card[] {
  const cards = readJson(body) as Record<string, unknown>[];
  const field = (value: unknown) => (withDigits(value) as string | null | undefined) ?? null;
  return cards.map((card) => Object.fromEntries(names.map((name) => [name, field(card[name])])));
}

function maskNumber(number: string | null): string | null {
  if (number === null) return null;
  const digits = number.replaceAll(/\D/g, '');
  return digits.length < SHORTEST_NUMBER ? '****' : `****${digits.slice(-4)}`;
}
