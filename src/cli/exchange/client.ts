import type { Command } from 'commander';
import { adoptLink, makeLink } from '../../flows/clients/links.ts';
import { answerTo, linkPath, noLink, printAnswer } from '../answer.ts';

/** `order-sync client`: clients and their links (§4.1 to §4.3). An e-mail address is printed, stored and logged nowhere. */
export function registerClient(program: Command): void {
  const client = program
    .command('client')
    .description('clients and their links at the exchange')
    .addHelpText('after', '\nExample:\n  order-sync client show 7f1c2a');
  registerCreate(program, client);
  client
    .command('validate')
    .description('asks whether a link could be made for an e-mail address (§4.2)')
    .argument('<email>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client validate ada@shop.example')
    .action(async (email: string, options: { json?: boolean }) => {
      const body = await answerTo(program, {
        method: 'POST',
        path: '/clients/validate',
        body: { email },
        alone: ({ exchange }) => exchange.validateEmail(email),
      });
      printAnswer(body, options.json);
    });
  client
    .command('show')
    .description('a link and its verification status (§4.3), as the exchange answers now')
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client show 7f1c2a')
    .action(async (linkId: string, options: { json?: boolean }) => {
      const body = await answerTo(program, {
        method: 'GET',
        path: linkPath(linkId),
        alone: ({ exchange }) => exchange.showLink(linkId),
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
  registerFollow(program, client);
}

function registerCreate(program: Command, client: Command): void {
  client
    .command('create')
    .description('registers a client and makes a link, or links a registered client (§4.1); the link is remembered')
    .argument('<email>', 'goes to the exchange and is kept nowhere')
    .option('--reference <text>', 'your own name for the link; no e-mail address')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client create ada@shop.example --reference customer-7')
    .action(async (email: string, options: { reference?: string; json?: boolean }) => {
      const reference = options.reference ?? null;
      const body = await answerTo(program, {
        method: 'POST',
        path: '/clients',
        body: { email, reference },
        alone: (app) => makeLink(app, { email, reference }),
      });
      printAnswer(body, options.json);
    });
}

function registerFollow(program: Command, client: Command): void {
  client
    .command('follow')
    .description('looks a link up (§4.3) and remembers it: the daemon follows its status from then on')
    .argument('<linkId>')
    .option('--reference <text>', 'your own name for the link; no e-mail address')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync client follow 7f1c2a --reference customer-7')
    .action(async (linkId: string, options: { reference?: string; json?: boolean }) => {
      const reference = options.reference ?? null;
      const body = await answerTo(program, {
        method: 'POST',
        path: `${linkPath(linkId)}/follow`,
        body: { reference },
        alone: (app) => adoptLink(app, { linkId, reference }),
        absent: noLink(linkId),
      });
      printAnswer(body, options.json);
    });
}
