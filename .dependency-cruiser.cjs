/** Who may import whom. docs/ARCHITECTURE.md tells the same in words. */
const layer = (name, from, notTo) => ({ name, severity: "error", from: { path: from }, to: { path: notTo } });
module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    layer(
      "errors-are-the-floor",
      "^lib/errors/",
      "^(lib/(?!errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "domain-is-pure",
      "^lib/domain/",
      "^(lib/(?!domain/|formats/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "formats-are-pure",
      "^lib/formats/",
      "^(lib/(?!domain/|formats/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "exec-knows-only-errors",
      "^lib/exec/",
      "^(lib/(?!exec/|errors/|formats/|domain/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "imager-below-services",
      "^lib/imager/",
      "^(lib/(?!imager/|exec/|formats/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "oci-below-services",
      "^lib/oci/",
      "^(lib/(?!oci/|exec/|formats/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "storage-below-services",
      "^lib/storage/",
      "^(lib/(?!storage/|formats/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "db-below-services",
      "^lib/db/",
      "^(lib/(?!db/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "queue-below-services",
      "^lib/queue/",
      "^(lib/(?!queue/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "keys-below-services",
      "^lib/keys/",
      "^(lib/(?!keys/|formats/|domain/|errors/)|app|api|cli|components|workers|scripts)",
    ),
    layer(
      "services-below-edges",
      "^lib/services/",
      "^(app|api|cli|components|workers|scripts|lib/http/|lib/config/(?!types))",
    ),
    layer("workers-do-not-know-pages", "^(workers|api)/", "^(app|components)/"),
    layer("edges-do-not-know-the-command", "^(app|api|components|workers)/", "^cli/"),
    layer(
      "the-command-needs-no-servers",
      "^cli/",
      "^(lib/(db|queue|http|storage)/|app|api|components|workers|scripts)",
    ),
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
