/** `npm run db:migrate`: brings the database of DATABASE_URL to the newest schema and says what it did. */
import { migrate } from "../lib/db/migrate.ts";

const url = process.env.DATABASE_URL;
if (url === undefined || url === "") {
  console.error("DATABASE_URL is not set: which database shall be migrated?");
  process.exit(78);
}
try {
  const result = await migrate(url, { onApply: (name) => console.log(`applied ${name}`) });
  if (result.applied.length === 0) console.log(`up to date (${result.known.length} migrations)`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
