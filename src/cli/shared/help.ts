import { Help } from 'commander';

const WIDTH = 80;

/** Paragraphs of a help, in lines of at most 80 columns. */
export function paragraphs(text: string): string {
  return new Help().boxWrap(text, WIDTH);
}

/** Names of a help with their texts beside them, in lines of at most 80 columns. */
export function itemList(items: readonly (readonly [name: string, text: string])[]): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const widest = Math.max(...items.map(([name]) => name.length));
  return items.map(([name, text]) => help.formatItem(name, widest, text, help)).join('\n');
}
