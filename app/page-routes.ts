/** Every path that the pages answer, so that the front door can tell a page from an unknown path. */
import type { Route } from "../lib/http/route-table.ts";

const read = (pattern: string): Route[] => [
  { method: "GET", pattern },
  { method: "HEAD", pattern },
];
const post = (pattern: string): Route => ({ method: "POST", pattern });

export const PAGE_ROUTES: Route[] = [
  ...read("/"),
  ...read("/builds"),
  ...read("/builds/:id"),
  ...read("/schematics/:id"),
  ...read("/schematics/:id/qr"),
  ...read("/catalog"),
  ...read("/catalog/extensions/:namespace/:name"),
  ...read("/catalog/overlays/:name"),
  ...read("/compare"),
  ...read("/upgrade"),
  ...read("/presets"),
  ...read("/presets/new"),
  ...read("/presets/:id"),
  ...read("/status"),
  ...read("/open"),
  ...read("/api"),
  ...read("/_next/*"),
  ...read("/icon.svg"),
  ...read("/favicon.ico"),
  post("/create"),
  post("/open/read"),
  post("/upgrade/create"),
  post("/language"),
  post("/theme"),
  post("/builds/start"),
  post("/builds/:id/cancel"),
  post("/presets/save"),
  post("/presets/import"),
  post("/presets/:id/copy"),
  post("/presets/:id/delete"),
];
