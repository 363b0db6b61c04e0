/** GET /secureboot/signing-cert.pem and .der, /oci/cosign/signing-key.pub: the public halves of the factory's keys. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Api, answer, createApi } from "./create-api.ts";
import { reply, sentence } from "./replies.ts";

const certificateRoute = (form: "pem" | "der", contentType: string) =>
  createRoute({
    method: "get",
    path: `/secureboot/signing-cert.${form}`,
    tags: ["boot"],
    summary: `Certificate that SecureBoot images are signed with, as ${form.toUpperCase()}`,
    responses: {
      200: { description: "The certificate", content: { [contentType]: { schema: z.string() } } },
      404: sentence("SecureBoot is off"),
    },
  });

const pem = certificateRoute("pem", "application/x-pem-file");
const der = certificateRoute("der", "application/pkix-cert");

const ociKey = createRoute({
  method: "get",
  path: "/oci/cosign/signing-key.pub",
  tags: ["evidence"],
  summary: "Public key that installer images and files are signed with",
  responses: {
    200: { description: "PEM", content: { "application/x-pem-file": { schema: z.string() } } },
    404: sentence("The factory has no signing key"),
  },
});

export function keyRoutes(): Api {
  const app = createApi();
  answer(app, pem, (c) => reply(c, c.var.services.keys.signingCertificate().pem, "application/x-pem-file"));
  answer(app, der, (c) => reply(c, c.var.services.keys.signingCertificate().der, "application/pkix-cert"));
  answer(app, ociKey, (c) => reply(c, c.var.services.signing.publicKeyPem(), "application/x-pem-file"));
  return app;
}
