import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseInstallerName,
  parseRegistryPath,
  requireSourceComponent,
} from "../../../lib/domain/registry-path.ts";
import { AppError } from "../../../lib/errors/app-error.ts";
import { acceptsIndex } from "../../../lib/services/registry/accept.ts";
import { refusal } from "../../fixtures/refusal.ts";

const ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
const DIGEST = `sha256:${"0".repeat(64)}`;

describe("paths below /v2", () => {
  it("takes the bare address as the handshake", () => {
    for (const path of ["/v2", "/v2/", "/v2//"]) expect(parseRegistryPath(path)).toBeNull();
  });

  it.each([
    [`/v2/installer/${ID}/manifests/v1.13.0`, "manifests", "v1.13.0"],
    [`/v2/aws-installer/${ID}/blobs/${DIGEST}`, "blobs", DIGEST],
    [`/v2/installer/${ID}/referrers/sha256%3A${"0".repeat(64)}`, "referrers", DIGEST],
    [`/v2/installer/${ID}/tags/list`, "tags", "list"],
    [`/v2/installer/${ID}/manifests/manifests`, "manifests", "manifests"],
  ])("reads %s", (path, resource, reference) => {
    expect(parseRegistryPath(path)).toMatchObject({
      resource,
      reference,
      target: { kind: "installer", schematicId: ID },
    });
  });

  it("keeps the source's names whole", () => {
    expect(parseRegistryPath("/v2/siderolabs/a/b/tags/list")?.target).toEqual({
      kind: "source",
      repository: "siderolabs/a/b",
    });
  });

  it.each([
    "/v2/nope",
    "/v2/_catalog",
    "/v2/siderolabs/manifests/v1",
    "/v2/siderolabs/x/tags/v1",
    `/v2/installer/${ID}/tags/x`,
    "/v2/a/b/c/manifests/v1",
    "/v2/foo/manifests/v1",
    `/v2/installer/${ID}/manifests/`,
    `/v2/installer/${ID}/blobs`,
    `/v2/installer/${ID}/uploads/x`,
    `/v2/installer/${ID}/manifests/a%2fb`,
    `/v2/installer/${ID}/manifests/%00`,
    `/v2/installer/${ID}/manifests/%zz`,
    `/v2/installer//manifests/v1`,
    `/v2/installer/${ID}/manifests/${"v".repeat(2000)}`,
  ])("does not know %s", (path) => {
    const error = refusal(() => parseRegistryPath(path));
    expect(error).toMatchObject({ code: "not_found", extra: { details: { ociCode: "NAME_UNKNOWN" } } });
    expect(error.message).toMatch(/^unknown registry path: "\//);
  });

  it("answers any text with a request or a refusal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          parseRegistryPath(`/v2/${text}`);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});

describe("image names", () => {
  it.each([
    ["installer", "metal", false],
    ["installer-secureboot", "metal", true],
    ["aws-installer", "aws", false],
    ["digital-ocean-installer-secureboot", "digital-ocean", true],
    ["-installer", "metal", false],
  ])("%s is for %s", (image, platform, secureboot) => {
    expect(parseInstallerName(image)).toEqual({ platform, secureboot });
  });

  it.each(["foo", "installerx", "secureboot", "installer-", "-secureboot"])("%s is no installer", (image) => {
    expect(refusal(() => parseInstallerName(image))).toMatchObject({
      code: "invalid_input",
      message: `invalid image: ${image}`,
    });
  });

  it("passes on the images that nodes and factories need, and no others", () => {
    expect(() => requireSourceComponent({ kind: "source", repository: "siderolabs/imager" })).not.toThrow();
    const error = refusal(() => requireSourceComponent({ kind: "source", repository: "siderolabs/a/b" }));
    expect(error.message).toBe("unknown image: a/b");
  });
});

describe("Accept", () => {
  const manifest = "application/vnd.oci.image.manifest.v1+json";
  const index = "application/vnd.oci.image.index.v1+json";
  it.each([
    [undefined, true],
    ["*/*", true],
    [`${manifest}, ${index};q=0.5`, true],
    ["application/vnd.docker.distribution.manifest.list.v2+json", true],
    ["application/json", true],
    [manifest, false],
    [`text/html, ${manifest.toUpperCase()}`, false],
  ])("%s: understands an index: %s", (accept, expected) => {
    expect(acceptsIndex(accept)).toBe(expected);
  });
});
