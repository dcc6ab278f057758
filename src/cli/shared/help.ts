import { Help } from 'commander';

const WIDTH = 80;

/** Paragraphs of a help, in lines of at most 80 columns. */
export function paragraphs(text: string): string {
  return new Help().boxWrap(text, WIDTH);
}

/**
 * Breaks paragraphs with a line wider than the screen at their spaces. A paragraph is lines that begin without a space:
 * examples are indented, and stay as they are copied.
 */
export function fitted(text: string, width: number): string {
  const help = new Help();
  help.minWidthToWrap = 1;
  return text.replaceAll(/^\S.*(?:\n\S.*)*/gm, (paragraph) =>
    paragraph.split('\n').every((line) => line.length <= width)
      ? paragraph
      : help.boxWrap(paragraph.replaceAll('\n', ' '), width),
  );
}

/** Names of a help with their texts beside them, in lines of at most 80 columns. */
export function itemList(items: readonly (readonly [name: string, text: string])[]): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const widest = Math.max(...items.map(([name]) => name.length));
  return items.map(([name, text]) => help.formatItem(name, widest, text, help)).join('\n');
}
