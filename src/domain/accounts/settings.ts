/** Settings of an account by their paths, as text; of a secret a hash. */
export type SettingsText = Readonly<Record<string, string>>;

/** Names the settings that differ from those that are kept as JSON. */
export function differences(kept: string, settings: SettingsText): readonly string[] {
  const others = readSettings(kept);
  const names = new Set([...Object.keys(others), ...Object.keys(settings)]);
  return [...names].filter((name) => others[name] !== settings[name]).toSorted();
}

function readSettings(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? { ...value } : {};
  } catch {
    return {};
  }
}
