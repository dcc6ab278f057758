import type { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { sqlitePath } from '../../../config/config.ts';
import { backUp } from '../../../store/sqlite/backup.ts';
import { assertFile } from '../../../store/sqlite/store.ts';
import { plainConfig } from '../../shared/options.ts';

const HELP = `
The copy is of one moment, checked, and readable for you alone; the daemon and
your application go on meanwhile. Photos are files: copy their folder as well. A
copy that is put back needs: order-sync db accept-restore

Example:
  order-sync db backup /var/backups/order-sync-2026-01-31.db`;

/** `order-sync db backup`. */
export function define(command: Command): void {
  command
    .argument('<file>', 'the copy; a file that is there already is not replaced')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, { json }: { json?: boolean }) => {
      const path = sqlitePath(plainConfig(command), 'back a database of PostgreSQL up with pg_dump');
      assertFile(path, { expect: 'any' });
      const progress = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
      await backUp(path, file, (share) => progress?.(`${Math.floor(share * 100)} % copied`)).finally(() =>
        progress?.clear(),
      );
      process.stdout.write(
        json === true ? `${JSON.stringify({ path, copy: file })}\n` : `${path} is copied to ${file}\n`,
      );
    });
}
