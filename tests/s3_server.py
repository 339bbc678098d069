"""An S3 server on loopback, to be run as a process: prints its port, and writes down each request.

It is moto's, which keeps objects in memory. The bucket `forbidden` may not be read.
"""

import logging
import sys

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

DENIED = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"""


def main(log_file: str) -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = DomainDispatcherApplication(create_backend_app)

    def application(environ, start_response):
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        what = "LIST" if "list-type=2" in environ["QUERY_STRING"] else method
        log.write(f"{what} {path}\n")
        if path.startswith("/forbidden"):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"" if method == "HEAD" else DENIED]
        return moto(environ, start_response)

    with open(log_file, "w", buffering=1) as log:
        server = make_server("127.0.0.1", 0, application, threaded=True)
        print(server.port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
