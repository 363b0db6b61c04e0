/** Passwords that stand in files everybody can read must not guard a factory that others can reach. */
import type { SettingName, Settings } from "./schema.ts";

/** What docker-compose.yml uses where no password was chosen. */
export const EXAMPLE_SECRET = "local-only-change-me";

/** The settings that may hold a password of docker-compose.yml, and the variable there that changes it. */
const CARRIERS = [
  { name: "DATABASE_URL", chosenBy: "POSTGRES_PASSWORD" },
  { name: "REDIS_URL", chosenBy: "REDIS_PASSWORD" },
  { name: "S3_SECRET_ACCESS_KEY", chosenBy: "S3_SECRET_ACCESS_KEY" },
] as const satisfies { name: SettingName; chosenBy: string }[];

/** One problem for each example password in use, when the factory's addresses are not those of this machine alone. */
export function exampleSecretProblems(settings: Settings): { name: SettingName; message: string }[] {
  const reachable = [settings.EXTERNAL_URL, settings.EXTERNAL_PXE_URL].find(
    (url) => url !== undefined && !isOwnMachine(url),
  );
  if (reachable === undefined) return [];
  return CARRIERS.filter(({ name }) => settings[name]?.includes(EXAMPLE_SECRET)).map(
    ({ name, chosenBy }) => ({
      name,
      message: `holds the example password, which is for this machine only, but the factory is to be reached at ${reachable}; set ${chosenBy} to a password of your own`,
    }),
  );
}

function isOwnMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
