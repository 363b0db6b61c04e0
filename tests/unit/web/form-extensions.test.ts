/** What the form lists: extensions of the chosen release, those of others with the reason, newer ones, conflicts. */
import { describe, expect, it } from "vitest";
import { extensionRows } from "../../../components/form/extension-rows.ts";
import { buildCatalog } from "../../../lib/domain/catalog/catalog-index.ts";
import {
  type ExtensionHistory,
  extensionHistories,
  newerVersion,
  ownVersion,
} from "../../../lib/domain/form/extension-history.ts";
import type { CatalogExtension, Release } from "../../../lib/domain/release.ts";

const extension = (title: string, tag: string, description = ""): CatalogExtension => ({
  name: `siderolabs/${title}`,
  ref: `ghcr.io/siderolabs/${title}:${tag}`,
  digest: `sha256:${"0".repeat(64)}`,
  author: "Sidero Labs",
  description,
});

const release = (version: string, extensions: CatalogExtension[]): Release => ({
  ...{ version, sample: false, extensions, overlays: [], baseInstaller: null },
  imager: { repository: "siderolabs/imager", digest: "" },
});

const OLD = [
  extension("gone", "1"),
  extension("zfs", "2.1.0-v1.9.5", "[extra] ZFS"),
  extension("gvisor", "3"),
];
const NEW = [
  extension("zfs", "2.4.3-v1.13.2", "[extra] ZFS"),
  extension("gvisor", "3", "[core] containerd runtime"),
  extension("tailscale", "1.9", "mesh"),
  extension("metal-agent", "0.1"),
  extension("i915", "5-v1.13.2"),
];
const histories = extensionHistories(
  buildCatalog([release("v1.9.5", OLD), release("v1.13.2", NEW), release("v1.14.0-beta.1", NEW)]),
);
const historyOf = (title: string): ExtensionHistory | undefined =>
  histories.find(({ name }) => name === `siderolabs/${title}`);

describe("the history of an extension", () => {
  it("says from which release to which it is there, and what the newest stable one has", () => {
    expect(historyOf("zfs")).toMatchObject({
      ...{ first: "1.9.5", last: "1.14.0-beta.1", tier: "extra" },
      newest: { talos: "1.13.2", version: "2.4.3-v1.13.2" },
    });
    expect(historyOf("gone")).toMatchObject({ first: "1.9.5", last: "1.9.5" });
  });

  it("tells a newer version by itself, not by the release it was built for", () => {
    expect(ownVersion("2.4.3-v1.13.2", "v1.13.2")).toBe("2.4.3");
    expect(ownVersion("v1.13.2", "1.13.2")).toBe("");
    expect(newerVersion(historyOf("zfs"), "2.1.0-v1.9.5", "1.9.5")).toEqual({
      talos: "1.13.2",
      version: "2.4.3",
    });
    expect(newerVersion(historyOf("zfs"), "2.4.3-v1.12.0", "1.12.0")).toBeNull();
    expect(newerVersion(historyOf("zfs"), "2.1.0-v1.14.0", "1.14.0")).toBeNull();
    expect(newerVersion(undefined, "1", "1.9.5")).toBeNull();
  });
});

describe("the list of extensions", () => {
  const rows = (change: object) =>
    extensionRows({
      ...{ version: "1.9.5", catalog: OLD, histories, chosen: [], pinned: [] },
      filter: { words: "", purpose: "" },
      ...change,
    });
  const titles = (change: object) => rows(change).map(({ title }) => title);

  it("ends with what other releases have, and says which", () => {
    expect(titles({})).toEqual(["gone", "zfs", "gvisor", "i915", "tailscale"]);
    expect(rows({}).at(-1)?.lack).toEqual({ since: "1.13.2" });
    const now = rows({ version: "1.13.2", catalog: NEW });
    expect(now.find(({ title }) => title === "gone")?.lack).toEqual({ until: "1.9.5" });
    expect(now.some(({ title }) => title === "metal-agent")).toBe(false);
  });

  it("begins with what is chosen, also what no release or an older name has", () => {
    const chosen = ["siderolabs/i915-ucode", "acme/own", "siderolabs/gvisor"];
    const all = { version: "1.13.2", catalog: NEW, chosen, pinned: chosen };
    expect(titles(all).slice(0, 3)).toEqual(["own", "i915-ucode", "gvisor"]);
    expect(titles({ ...all, filter: { words: "nothing", purpose: "" } })).toEqual([
      "own",
      "i915-ucode",
      "gvisor",
    ]);
  });

  it("finds by purpose and by words that are not in the text", () => {
    const all = { version: "1.13.2", catalog: NEW };
    expect(titles({ ...all, filter: { words: "vpn", purpose: "" } })).toEqual(["tailscale"]);
    expect(titles({ ...all, filter: { words: "", purpose: "storage" } })).toEqual(["zfs"]);
    expect(titles({ ...all, filter: { words: "gvisor", purpose: "storage" } })).toEqual([]);
  });

  it("says what would not go with what is chosen", () => {
    const catalog = ["nonfree-kmod-nvidia-lts", "nvidia-open-gpu-kernel-modules-lts"].map((name) =>
      extension(name, "1"),
    );
    const chosen = ["siderolabs/nonfree-kmod-nvidia-lts"];
    expect(rows({ catalog, chosen, histories: [] }).map(({ conflict }) => conflict)).toEqual([
      null,
      chosen[0],
    ]);
  });
});
