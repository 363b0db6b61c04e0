/** Which requests Next shows to proxy.ts: those it shows, it keeps in memory and cuts at 10 MiB. */
import { unstable_doesMiddlewareMatch as showsToProxy } from "next/experimental/testing/server";
import { expect, test } from "vitest";
import { config } from "../../../proxy.ts";

const isShown = (url: string) => showsToProxy({ config, nextConfig: {}, url });

test("uploads go past the proxy, pages do not", () => {
  expect(isShown("/extensions/upload/team/daemon")).toBe(false);
  for (const page of ["/", "/extensions", "/extensions/upload", "/extensions/new", "/presets/import"])
    expect(isShown(page), page).toBe(true);
});
