/** `npm run db:migrate`: brings the database of DATABASE_URL to the newest schema and says what it did. */
import { readEnvironment } from "../lib/config/environment.ts";
import { EXIT_CONFIG } from "../lib/config/load.ts";
import { readSettings } from "../lib/config/settings.ts";
import { migrate } from "../lib/db/migrate.ts";

const url = readSettings(readEnvironment()).settings.DATABASE_URL;
if (url === undefined) {
  console.error("DATABASE_URL is not set or no address: which database shall be migrated?");
  process.exit(EXIT_CONFIG);
}
try {
  const result = await migrate(url, { onApply: (name) => console.log(`applied ${name}`) });
  if (result.applied.length === 0) console.log(`up to date (${result.known.length} migrations)`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
