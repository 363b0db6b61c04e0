/** Hands the one set of services of this process to the pages, which the page bundler loads apart from the server. */
import type { Services } from "./contracts.ts";

export interface PageContext {
  services: Services;
  /** Base of every link, without trailing slash. */
  publicUrl: string;
  /** Base used inside PXE scripts, without trailing slash. */
  pxeUrl: string;
}

const KEY = Symbol.for("casthouse.page-context");

/** Called once by the server before it listens. */
export function setPageContext(context: PageContext): void {
  Reflect.set(globalThis, KEY, context);
}

/** What pages work with; throws when the server was not started by server.ts. */
export function pageContext(): PageContext {
  const context: PageContext | undefined = Reflect.get(globalThis, KEY);
  if (!context) throw new Error("The pages run inside server.ts; start it with npm start or npm run dev");
  return context;
}
