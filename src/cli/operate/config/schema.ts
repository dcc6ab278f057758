import type { Command } from 'commander';
import { settingsSchema } from '../../../config/schema.ts';

/** `order-sync config schema`. */
export function define(command: Command): void {
  command
    .description('prints the JSON Schema of a file of settings, for editors; config/schema.json holds it')
    .option('--json', 'the schema is JSON in any case')
    .addHelpText('after', '\nExample:\n  order-sync config schema > /etc/order-sync/schema.json')
    .action(() => void process.stdout.write(`${JSON.stringify(settingsSchema(), null, 2)}\n`));
}
