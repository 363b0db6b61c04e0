/** PUT /extensions/upload/:namespace/:name: the upload of the page, as a stream; answers JSON for its script. */
import { Readable } from "node:stream";
import { isAppError } from "../../../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../../../lib/services/current.ts";
import { requestWords } from "../../../../request-words.ts";
import { mayChange, missingRight } from "../../../page-access.ts";

interface Props {
  params: Promise<{ namespace: string; name: string }>;
}

const refused = (status: number, message: string, hint = "") => Response.json({ message, hint }, { status });

export async function PUT(request: Request, { params }: Props): Promise<Response> {
  const { t } = await requestWords();
  if (request.headers.get("sec-fetch-site") === "cross-site") return refused(403, t("own.upload.failed"));
  if (!(await mayChange())) return refused(401, t(`own.problem.${await missingRight()}`));
  if (request.body === null) return refused(400, t("own.upload.failed"));
  const query = new URL(request.url).searchParams;
  const length = request.headers.get("content-length");
  try {
    const pin = await pageContext().services.own.upload({
      ...(await params),
      body: Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]),
      sizeBytes: length === null ? null : Number.parseInt(length, 10),
      talos: query.get("talos") ?? "",
      override: query.get("override") === "1",
      signal: request.signal,
    });
    return Response.json({ href: `/extensions/${pin.sourceId}` }, { status: 201 });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return refused(error.status, error.message, error.extra.hint);
  }
}
