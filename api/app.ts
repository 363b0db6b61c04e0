/** The machine API in one place: every resource file, and the table of what it answers. */
import { getRequestListener } from "@hono/node-server";
import type { NodeHandler } from "../lib/http/front.ts";
import { type Route, RouteTable } from "../lib/http/route-table.ts";
import type { Services } from "../lib/services/contracts.ts";
import { buildRoutes } from "./builds.ts";
import { catalogRoutes } from "./catalog.ts";
import { compareRoutes } from "./compare.ts";
import { createApi, type FailureListener } from "./create-api.ts";
import { ownExtensionRoutes } from "./extensions.ts";
import { healthRoutes } from "./health.ts";
import { imageRoutes } from "./image.ts";
import { keyRoutes } from "./keys.ts";
import { llmsRoutes } from "./llms.ts";
import { lockRoutes } from "./locks.ts";
import { openapiRoutes } from "./openapi.ts";
import { planRoutes } from "./plan.ts";
import { presetRoutes } from "./presets.ts";
import { pxeRoutes } from "./pxe.ts";
import { registryRoutes } from "./registry.ts";
import { releaseRoutes } from "./releases.ts";
import { reply, TEXT } from "./replies.ts";
import { sbomRoutes } from "./sboms.ts";
import { schematicRoutes } from "./schematics.ts";
import { sourceRoutes } from "./sources.ts";
import { statusRoutes } from "./status.ts";
import { talosctlRoutes } from "./talosctl.ts";
import { upgradeRoutes } from "./upgrades.ts";
import { versionRoutes } from "./versions.ts";

export interface ApiOptions {
  services: Services;
  /** Base of every link, without trailing slash. */
  publicUrl: string;
  onFailure: FailureListener;
}

/** Routes that answer HEAD; everywhere else HEAD is 405, as clients of the dialect expect. */
const HEADABLE = [
  "/healthz",
  "/readyz",
  "/image/:schematic/:version/:path",
  "/api/v1/locks/:id/:path",
  "/v2/*",
  "/talosctl/:version/:file",
  "/spdx/:schematic/:version/:arch",
];

/** The Hono app with every route. */
export function buildApp(options: ApiOptions) {
  const app = createApi(options.onFailure);
  // Only for paths that the front door and this router read differently, such as those with "..".
  app.notFound((c) => reply(c, "404 page not found\n", TEXT, 404));
  app.use(async (c, next) => {
    c.set("services", options.services);
    c.set("publicUrl", options.publicUrl);
    c.set("onFailure", options.onFailure);
    await next();
  });
  const resources = [
    healthRoutes(),
    schematicRoutes(),
    versionRoutes(),
    imageRoutes(),
    pxeRoutes(),
    registryRoutes(),
    talosctlRoutes(),
    keyRoutes(),
    sbomRoutes(),
    lockRoutes(),
    buildRoutes(),
    sourceRoutes(),
    ownExtensionRoutes(),
    presetRoutes(),
    statusRoutes(),
    planRoutes(),
    releaseRoutes(),
    catalogRoutes(),
    compareRoutes(),
    upgradeRoutes(),
    llmsRoutes(),
  ];
  for (const resource of resources) app.route("/", resource);
  app.route("/", openapiRoutes(app));
  return app;
}

/** Handler and route table for the front door. */
export function createMachineApi(options: ApiOptions): { routes: RouteTable; handle: NodeHandler } {
  const app = buildApp(options);
  const routes: Route[] = app.routes
    .filter((r) => r.method !== "ALL")
    .map((r) => ({ method: r.method, pattern: r.path }));
  for (const pattern of HEADABLE) routes.push({ method: "HEAD", pattern });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return { routes: new RouteTable(routes), handle: listener };
}
