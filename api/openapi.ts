/** GET /openapi.json: the description of this API, written from the same schemas that parse the requests. */
import { type Api, createApi } from "./create-api.ts";
import { json } from "./replies.ts";

const INFO = {
  openapi: "3.1.0" as const,
  info: {
    title: "Casthouse",
    version: "1",
    description:
      "Image factory for Talos Linux: store a schematic, download what it describes, follow the builds.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
};

/** The OpenAPI 3.1 document of an app. */
export const openapiDocument = (app: Api) => app.getOpenAPI31Document(INFO);

export function openapiRoutes(whole: Api): Api {
  const app = createApi();
  app.get("/openapi.json", (c) =>
    json(c, openapiDocument(whole), 200, { "Cache-Control": "public, max-age=300" }),
  );
  return app;
}
