/**
 * Who may import whom: one row for each row of the table in docs/ARCHITECTURE.md, which tells the same; a test compares
 * them. A folder may import itself, lib/errors and what stands here; every package and Node besides.
 */
const ROWS = {
  app: ["components", "lib/services", "lib/http", "lib/domain"],
  components: ["lib/services", "lib/domain"],
  api: ["lib/services", "lib/http", "lib/formats", "lib/domain"],
  cli: ["lib/services", "lib/keys", "lib/oci", "lib/imager", "lib/exec", "lib/config", "lib/domain"],
  workers: ["lib/runtime", "lib/services", "lib/queue", "lib/config"],
  "server.ts": ["app", "api", "lib/runtime", "lib/services", "lib/http", "lib/config", "lib/log"],
  "proxy.ts": ["app", "components"],
  "lib/runtime": [
    ...["lib/services", "lib/imager", "lib/oci", "lib/storage", "lib/keys", "lib/db", "lib/queue"],
    ...["lib/exec", "lib/formats", "lib/domain", "lib/config", "lib/log"],
  ],
  "lib/services": [
    ...["lib/imager", "lib/oci", "lib/storage", "lib/keys", "lib/db", "lib/queue"],
    ...["lib/exec", "lib/formats", "lib/domain"],
  ],
  "lib/imager": ["lib/exec", "lib/formats", "lib/domain"],
  "lib/oci": ["lib/exec", "lib/formats", "lib/domain"],
  "lib/storage": ["lib/formats", "lib/domain"],
  "lib/keys": ["lib/formats", "lib/domain"],
  "lib/db": ["lib/domain"],
  "lib/queue": ["lib/domain"],
  "lib/http": ["lib/storage"],
  "lib/exec": ["lib/domain"],
  "lib/formats": ["lib/domain"],
  "lib/domain": ["lib/formats"],
  "lib/errors": [],
  "lib/config": ["lib/domain"],
  "lib/log": [],
  scripts: ["api", "lib", "tests"],
};

/** As a pattern of paths. */
const pathOf = (row) => (row.endsWith(".ts") ? `${row.replace(".", "\\.")}$` : `${row}/`);
const OURS = "^((lib|app|api|cli|components|workers|scripts|tests)/|(server|proxy)\\.ts$)";

const rules = Object.entries(ROWS).map(([from, to]) => ({
  name: `imports-of-${from}`,
  severity: "error",
  from: { path: `^${pathOf(from)}` },
  to: { path: OURS, pathNot: `^(${[from, "lib/errors", ...to].map(pathOf).join("|")})` },
}));

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    ...rules,
    {
      name: "pages-live-in-next",
      severity: "error",
      from: { path: "^(lib|api|workers)/" },
      to: { path: "^node_modules/next/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(\\.cache|\\.next|dist|data|lib/db/generated)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node"] },
  },
};
