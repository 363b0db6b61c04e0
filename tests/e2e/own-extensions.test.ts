/** Own extensions in Chromium: sent with progress, ticked in the form, kept up with and without scripts, clean for axe. */
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOwnAccess, TICKET_MS } from "../../lib/services/own/access.ts";
import { startWebFactory, type WebFactory } from "../fixtures/browser.ts";
import { packChaos, sendJson, uploadPin, withWarning } from "../fixtures/own-extensions.ts";

const ADMIN = "correct-horse-battery-staple";
const NAME = "team/chaos-daemon";
const VERSION = "v1.13.2";
const WITH_TOKEN = ["-H", `Authorization: Bearer ${ADMIN}`];

let web: WebFactory;
/** Address of the page of the source. */
let source: string;

beforeAll(async () => {
  web = await startWebFactory({ ADMIN_TOKEN: ADMIN, OWN_EXTENSIONS: "admin" });
}, 300_000);
afterAll(() => web?.stop(), 60_000);

async function signIn(page: Page, token = ADMIN): Promise<void> {
  await page.goto("/extensions");
  await page.getByLabel("Administrator’s token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function expectClean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual(
    [],
  );
  const wider = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(wider).toBeLessThanOrEqual(0);
}

const archive = (version: string, change?: Parameters<typeof packChaos>[2]) =>
  packChaos(join(web.factory.dataDir, "made"), { version }, change);

describe("with scripts", () => {
  it("only an administrator sees how to bring an extension", async () => {
    const page = await web.open();
    await page.goto("/extensions");
    await page.getByText("None yet.").waitFor();
    expect(await page.getByRole("button", { name: "Send and check" }).count()).toBe(0);
    await signIn(page, "not-the-right-token-at-all");
    await page.getByText("This is not the administrator’s token.").waitFor();
    await page.close();
  });

  it("sends an archive and shows what the checks say", async () => {
    const page = await web.open();
    await signIn(page);
    await page.getByLabel("Archive").setInputFiles(await archive("v1.0.0"));
    const form = page.locator("form", { has: page.getByLabel("Archive") });
    await form.getByLabel("Namespace").fill("team");
    await form.getByLabel("Name", { exact: true }).fill("Chaos");
    await page.getByRole("button", { name: "Send and check" }).click();
    await page.getByText('"team/Chaos" is no name of an own extension').waitFor();
    await form.getByLabel("Name", { exact: true }).fill("chaos-daemon");
    await page.getByRole("button", { name: "Send and check" }).click();
    await page.waitForURL(/\/extensions\/[0-9a-f-]{36}$/);
    source = new URL(page.url()).pathname;
    await page.getByRole("heading", { name: "team/chaos-daemon v1.0.0" }).waitFor();
    await page.getByText("nothing to report").waitFor();
    await page.close();
  });

  it("boots it on demand and shows the result with its console", async () => {
    const page = await web.open();
    await signIn(page);
    await page.goto(source);
    await page.getByRole("button", { name: "Boot test" }).click();
    await page.getByText(/^Boot test: (waiting|running)/).waitFor();
    expect(await page.getByRole("button", { name: "Boot test" }).count()).toBe(0);
    const ended = page.getByText(/^(Booted with|Boot test failed)/);
    await expect
      .poll(async () => (await page.reload()) && ended.count(), { timeout: 300_000, interval: 1_000 })
      .toBe(1);
    expect(await ended.textContent()).toContain(`Booted with ${VERSION}`);
    await page.getByText("tested", { exact: true }).waitFor();
    await page.getByText("Console of the machine").click();
    await page.getByText("casthouse-sample: boot ok").waitFor();
    await expectClean(page);
    await page.close();
  }, 330_000);

  it("tells how much was sent", async () => {
    const page = await web.open();
    await signIn(page);
    const told: string[] = [];
    await page.exposeFunction("tell", (text: string) => told.push(text));
    await page.getByLabel("Archive").waitFor();
    await page.evaluate(() => {
      const { tell } = window as unknown as { tell: (text: string) => void };
      new MutationObserver(() => {
        for (const node of document.querySelectorAll("form [aria-live]")) tell(node.textContent ?? "");
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const large = { name: "large.tar", mimeType: "application/x-tar", buffer: Buffer.alloc(20 * 2 ** 20, 1) };
    await page.getByLabel("Archive").setInputFiles(large);
    const form = page.locator("form", { has: page.getByLabel("Archive") });
    await form.getByLabel("Namespace").fill("team");
    await form.getByLabel("Name", { exact: true }).fill("large");
    await page.getByRole("button", { name: "Send and check" }).click();
    await page.locator("main [role=alert]").waitFor();
    expect(told.some((text) => /^\d+% sent$/.test(text)) || told.includes("Being unpacked and checked")).toBe(
      true,
    );
    await page.close();
  });

  it("is ticked in the form like any other, marked as not official", async () => {
    const page = await web.open();
    await page.goto(`/?version=${VERSION.slice(1)}`);
    const row = page.locator("label", { has: page.locator(`input[name=extensions][value="${NAME}"]`) });
    await row.getByText("own", { exact: true }).waitFor();
    await row.getByRole("checkbox").check();
    await page
      .getByRole("button", { name: /create/i })
      .first()
      .click();
    await page.waitForURL(/\/schematics\/[0-9a-f]{64}/);
    await page.getByRole("heading", { name: "Your extensions" }).waitFor();
    await page.getByText("Set up its service").click();
    await page.getByText("kind: ExtensionServiceConfig").waitFor();
    await expectClean(page);
    await page.close();
  });
});

it("says in form, catalog and result that an official name is replaced, while it is", async () => {
  const name = "siderolabs/hello-world-service";
  const file = await archive("v9.0.0");
  const address = `${web.url}/api/v1/extensions/${name}?override=true`;
  const pin = await uploadPin(file, address, ...WITH_TOKEN);
  const page = await web.open({ javaScriptEnabled: false });
  const marked = "replaces official";
  await page.goto(`/?version=${VERSION.slice(1)}`);
  const row = page.locator("label", { has: page.locator(`input[name=extensions][value="${name}"]`) });
  await row.getByText(marked).waitFor();
  await page.goto("/catalog?q=hello-world");
  await page
    .getByRole("row", { name: /hello-world-service/ })
    .getByText(marked)
    .waitFor();
  const id = await web.factory.schematic(
    `customization: {systemExtensions: {officialExtensions: [${name}]}}`,
  );
  await page.goto(`/schematics/${id}?version=${VERSION}`);
  await page.getByText(marked).waitFor();
  await page.getByText(pin.digest).first().waitFor();
  await page.goto(`/extensions/${pin.sourceId}`);
  await page.getByText("replaces official ones").waitFor();
  const source = `${web.url}/api/v1/sources/${pin.sourceId}`;
  const gone = await sendJson(source, {}, { authorization: `Bearer ${ADMIN}` }, "DELETE");
  expect(gone.body).toEqual({ schematics: [id], hidden: 0 });
  await page.goto(`/schematics/${id}?version=${VERSION}`);
  expect(await page.getByText(marked).count()).toBe(0);
  await page.close();
});

describe("without scripts", () => {
  it("a second version is read, accepted and used; then it is retired", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await uploadPin(
      await archive("v2.0.0", withWarning),
      `${web.url}/api/v1/extensions/${NAME}`,
      ...WITH_TOKEN,
    );
    await signIn(page);
    await page.getByText("1 to review").waitFor();
    await page.goto(source);
    const offered = page.getByRole("article", { name: `${NAME} v2.0.0` });
    await offered.getByText("which is not there").waitFor();
    await offered.getByLabel("Talos versions").fill("nonsense");
    await offered.getByLabel("I have read the warnings").check();
    await offered.getByRole("button", { name: "Use from now on" }).click();
    await page.getByText('"nonsense" is no range of Talos versions').waitFor();
    await offered.getByLabel("Talos versions").fill("");
    await offered.getByLabel("I have read the warnings").check();
    await offered.getByRole("button", { name: "Use from now on" }).click();
    await offered.getByText("in use", { exact: true }).waitFor();
    await page
      .getByRole("article", { name: `${NAME} v1.0.0` })
      .getByText("not in use any more")
      .waitFor();
    await offered.getByRole("button", { name: "Stop using" }).click();
    await offered.getByText("not in use any more").waitFor();
    await page.close();
  });

  it("a source in a registry that cannot be had is refused with words", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await signIn(page);
    const form = page.locator("form", { has: page.locator("input[name=reference]") });
    await form.locator("input[name=reference]").fill("https://10.0.0.1/team/daemon:v1");
    await form.getByLabel("Namespace").fill("team");
    await form.locator("input[name=name]").fill("daemon");
    await form.getByRole("button", { name: "Fetch and check" }).click();
    await page.getByText("10.0.0.1 is a private address").waitFor();
    await page.close();
  });

  it("nobody changes anything without signing in, nor from another site", async () => {
    const post = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${web.url}${path}`, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: "a=b",
      });
    for (const path of [
      "/extensions/add",
      `${source}/delete`,
      `${source}/look`,
      "/extensions/pins/1/boot-test",
    ]) {
      const answer = await post(path);
      expect([path, answer.status, answer.headers.get("location")]).toEqual([
        path,
        303,
        expect.stringContaining("problem=sign-in"),
      ]);
      expect((await post(path, { origin: "https://evil.example" })).status).toBe(403);
    }
    const put = await fetch(`${web.url}/extensions/upload/team/x`, { method: "PUT", body: "x" });
    expect(put.status).toBe(401);
  });
});

it("a sign-in ends when the administrator says so", async () => {
  const page = await web.open({ javaScriptEnabled: false });
  await signIn(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  const kept = await page.context().cookies(`${web.url}/extensions`);
  expect(kept.map(({ name }) => name)).not.toContain("administrator");
  await page.close();
});

it("a sign-in that has run out is told, by the page and by what is posted", async () => {
  const page = await web.open();
  const value = createOwnAccess("admin", ADMIN, () => Date.now() - TICKET_MS - 1_000).ticket(ADMIN) ?? "";
  const { hostname: domain } = new URL(web.url);
  await page.context().addCookies([{ name: "administrator", value, domain, path: "/extensions" }]);
  await page.goto(source);
  await page.getByText("Your sign-in has run out.").waitFor();
  const posted = await page.request.post(`${source}/look`, { form: { a: "b" }, maxRedirects: 0 });
  expect([posted.status(), posted.headers().location]).toEqual([303, `${source}?problem=expired`]);
  await expectClean(page);
  await page.close();
});

describe("what is shown", () => {
  it.each([
    ["en-US", 1280],
    ["en-US", 390],
    ["fr-FR", 390],
  ])("is clean for axe and fits (%s, %i pixels)", async (locale, width) => {
    const page = await web.open({ locale, viewport: { width, height: 900 } });
    await page.goto("/extensions");
    await page.locator("input[name=token]").fill(ADMIN);
    await page.locator("form[action='/extensions/sign-in'] button").click();
    const title = locale === "fr-FR" ? "De votre disque" : "From your disk";
    await page.getByRole("heading", { name: title }).waitFor();
    await expectClean(page);
    await page.goto(source);
    await expectClean(page);
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/source-${locale}-${width}.png`, fullPage: true });
    await page.goto("/extensions");
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/list-${locale}-${width}.png`, fullPage: true });
    expect(web.scriptErrors).toEqual([]);
    await page.close();
  });

  it("is deleted with what used it named", async () => {
    const page = await web.open({ javaScriptEnabled: false });
    await signIn(page);
    await page.goto(source);
    await page.getByRole("heading", { name: "Used by" }).waitFor();
    expect(await page.locator("section[aria-labelledby=usage] a[href^='/schematics/']").count()).toBe(1);
    await page.getByRole("button", { name: "Delete this source" }).click();
    await page.waitForURL(/\/extensions$/);
    await page.getByText("None yet.").waitFor();
    await page.close();
  });
});
