import type { Command } from 'commander';
import { parse } from 'lossless-json';
import { cardsSchema } from '../../exchange/schemas.ts';
import { asTable } from '../../reports/formats/text.ts';
import { answerTo, linkPath, noLink, printAnswer } from '../answer.ts';

/** What of a card is shown without `--reveal`, its number masked; a field that the interface does not show is a secret. */
const SHOWN = ['id', 'bank', 'country', 'number', 'type'] as const;
const REVEALED = [...SHOWN, 'token'] as const;
/** A number of fewer digits is hidden whole: its last four would be most of it. */
const SHORTEST_NUMBER = 8;

/** `order-sync customer`: clients at the card-payment provider (§4.6, §4.7). */
export function registerCustomer(program: Command): void {
  const customer = program
    .command('customer')
    .description('clients at the card-payment provider')
    .addHelpText('after', '\nExample:\n  order-sync customer cards 7f1c2a');
  customer
    .command('show')
    .description('the customer record of a link (§4.6); personal data')
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync customer show 7f1c2a')
    .action(async (linkId: string, options: { json?: boolean }) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: `${linkPath(linkId)}/customer`,
        alone: ({ exchange }) => exchange.showCustomer(linkId),
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
  customer
    .command('cards')
    .description('the saved cards of a link (§4.7)')
    .argument('<linkId>')
    .option('--reveal', 'card numbers and tokens as the exchange gives them')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync customer cards 7f1c2a')
    .action(async (linkId: string, { reveal, json }: { reveal?: boolean; json?: boolean }) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: `${linkPath(linkId)}/cards`,
        alone: ({ exchange }) => exchange.listCards(linkId),
        absent: noLink(linkId),
      });
      process.stdout.write(reveal === true ? revealed(body, json === true) : masked(body, json === true));
    });
}

function revealed(body: string, asJson: boolean): string {
  return asJson ? `${body}\n` : asTable(rows(body, REVEALED), REVEALED);
}

function masked(body: string, asJson: boolean): string {
  const cards = rows(body, SHOWN).map((card) => ({
    ...card,
    number: maskNumber(card['number'] ?? null),
  }));
  return asJson ? `${JSON.stringify(cards, null, 2)}\n` : asTable(cards, SHOWN);
}

/** These fields of each card. */
function rows(body: string, names: readonly (typeof REVEALED)[number][]): Record<string, string | null>[] {
  return cardsSchema
    .parse(parse(body))
    .map((card) => Object.fromEntries(names.map((name) => [name, card[name] ?? null])));
}

function maskNumber(number: string | null): string | null {
  if (number === null) return null;
  const digits = number.replaceAll(/\D/g, '');
  return digits.length < SHORTEST_NUMBER ? '****' : `****${digits.slice(-4)}`;
}
