import type { Commands, Entries, Heading } from './extension.ts';

/** In the order of the help. */
const HEADINGS: readonly Heading[] = ['First steps:', 'Every day:', 'The exchange, as it answers now:', 'Other:'];

/** Joins commands by heading. Groups of one name become one. */
export function joined(parts: readonly Commands[]): readonly (readonly [heading: string, Entries])[] {
  const found = HEADINGS.map((heading) => [heading, parts.map((part) => part[heading] ?? {}).reduce(together, {})]);
  return found as [string, Entries][];
}

function together(some: Entries, more: Entries): Entries {
  const entries = { ...some };
  for (const [name, entry] of Object.entries(more)) {
    const known = entries[name];
    const areGroups = known !== undefined && 'commands' in known && 'commands' in entry;
    entries[name] = areGroups ? { ...known, ...entry, commands: together(known.commands, entry.commands) } : entry;
  }
  return entries;
}
