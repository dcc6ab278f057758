import { examples } from '../../../cli/shared/help.ts';
import type { Command } from 'commander';
import { extensionsOf } from '../../../cli/shared/extensions.ts';
import { controlDocument } from './document.ts';

export function define(command: Command): void {
  command
    .option('--json', 'the document is JSON in any case')
    .addHelpText(...examples('openapi > openapi.json'))
    .action(async () => {
      const document = await controlDocument(command.parent?.version() ?? '', extensionsOf(command));
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    });
}
