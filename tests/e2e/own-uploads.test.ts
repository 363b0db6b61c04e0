/** Uploads of the page of own extensions as Next hands them on: whole whatever their size, and asked for permission first. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";
import { curlUpload, packChaos } from "../fixtures/own-extensions.ts";

/** Next cuts bodies at 10 MiB where it keeps them for proxy.ts. */
const LARGE_BYTES = 12 * 2 ** 20;
const PATH = "/extensions/upload/team/chaos-daemon";
const ADMIN = "correct-horse-battery-staple";

let web: WebFactory;

beforeAll(async () => {
  web = await startWebFactory({ ADMIN_TOKEN: ADMIN, OWN_EXTENSIONS: "admin" });
}, 300_000);
afterAll(() => web?.stop(), 60_000);

/** The cookie of somebody who signed in. */
async function signIn(): Promise<string> {
  const { status, headers } = await fetch(`${web.url}/extensions/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ token: ADMIN }),
  });
  expect(status).toBe(303);
  return headers.getSetCookie().join("; ").split(";", 1)[0] ?? "";
}

it("an archive larger than 10 MiB arrives whole", async () => {
  const file = await packChaos(join(web.factory.dataDir, "made"), { version: "v3.0.0" }, (tree) =>
    writeFile(join(tree, "rootfs/usr/local/lib/containers/chaos-daemon/faults"), randomBytes(LARGE_BYTES), {
      mode: 0o644,
    }),
  );
  const answer = await curlUpload(file, `${web.url}${PATH}`, "-H", `Cookie: ${await signIn()}`);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    201,
    { href: expect.stringMatching(/^\/extensions\/[0-9a-f-]{36}$/) },
  ]);
});

it("whoever may not send anything hears so before the body is there", async () => {
  const headers = { "content-length": LARGE_BYTES };
  const sending = request(`${web.url}${PATH}`, { method: "PUT", headers });
  sending.on("error", () => undefined);
  const answered = new Promise((resolve) =>
    sending.once("response", ({ statusCode }) => resolve(statusCode)),
  );
  sending.write(Buffer.alloc(1_000));
  expect(await answered).toBe(401);
  sending.destroy();
});
