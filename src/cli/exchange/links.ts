import type { Command } from 'commander';
import { asTable } from '../../reports/formats/text.ts';
import { linkEventsOf, listLinks, readLink } from '../../store/links.ts';
import { CommandError, EXIT } from '../exit.ts';
import { ACCOUNT, wholeNumber, withStore } from '../options.ts';

const LIST_COLUMNS = ['link', 'reference', 'status', 'changed', 'checked', 'missing since'];

/** `order-sync links` and `links show`: the client links that are remembered. */
export function registerLinks(program: Command): void {
  const links = program.command('links');
  links
    .description('the newest client links that are remembered, with the status each had when it was last looked at')
    // Otherwise the options of `show` would be taken for those of this command.
    .enablePositionalOptions()
    .option('--status <status>', 'only links with this status')
    .option('--limit <n>', 'at most so many', wholeNumber, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync links --status NOT_VERIFIED')
    .action(async ({ status, limit, json }: { status?: string; limit: number; json?: boolean }) => {
      const query = { account: ACCOUNT, status, limit: limit + 1 };
      const found = await withStore(program, 'current', (store) => listLinks(store.db, query));
      const rows = found.slice(0, limit);
      const lines = rows.map((row) => ({
        link: row.link_id,
        reference: row.reference,
        status: row.status,
        changed: row.updated_at,
        checked: row.last_checked_at,
        'missing since': row.missing_since,
      }));
      process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : asTable(lines, LIST_COLUMNS));
      if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
    });
  registerShow(program, links);
}

function registerShow(program: Command, links: Command): void {
  links
    .command('show')
    .description('one client link and its history')
    .argument('<linkId>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync links show 7f1c2a')
    .action(async (linkId: string, options: { json?: boolean }) => {
      const { link, events } = await withStore(program, 'current', async ({ db }) => ({
        link: await readLink(db, ACCOUNT, linkId),
        events: await linkEventsOf(db, ACCOUNT, linkId),
      }));
      if (link === undefined) {
        const name = JSON.stringify(linkId);
        throw new CommandError(EXIT.look, `the link ${name} is not remembered; order-sync client follow does that`);
      }
      if (options.json === true) {
        process.stdout.write(`${JSON.stringify({ link, events }, null, 2)}\n`);
        return;
      }
      const fields = Object.entries(link).filter(([, value]) => value !== null);
      const changes = events.map((event) => ({
        at: event.observed_at,
        field: event.field,
        from: event.old_value,
        to: event.new_value,
        source: event.source,
        reason: event.reason,
      }));
      process.stdout.write(asTable(fields.map(([field, value]) => ({ field, value }))) + asTable(changes));
    });
}
