interface Invocation {
  readonly call: () => string;
  readonly commands: ReadonlySet<string>;
  readonly folder: string | null;
}

let invocation: Invocation | undefined;

/** `call` returns the words that start the program. It runs once, when needed, because it reads the disk. */
export function noteInvocation(call: () => string, commands: Iterable<string>, folder: string | null = null): void {
  let known: string | undefined;
  invocation = { call: () => (known ??= call()), commands: new Set(commands), folder };
}

/** Returns the folder in which a person must paste the commands; null if any folder will do. */
export function pasteFolder(): string | null {
  return invocation?.call().startsWith('npx ') === true ? invocation.folder : null;
}

/** Replaces `order-sync` in commands by the words of `noteInvocation`. The text must contain no data of orders. */
export function pasteable(text: string): string {
  if (invocation === undefined || !text.includes('order-sync ')) return text;
  const { call, commands } = invocation;
  return text.replaceAll(/(?<![\w/.-]|npx )order-sync (?=([a-z][a-z-]*))/g, (words, name: string) =>
    commands.has(name) ? `${call()} ` : words,
  );
}
