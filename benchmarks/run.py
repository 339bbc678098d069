"""Measure hta_sql against HTA and plain JSON loading; README.md says what and how."""

import argparse
import sys

import cases
import report
from data import ROOT, add_folder
from measure import Failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the cases and leave")
    parser.add_argument("--only", default="", metavar="REGEX", help="run these cases only")
    parser.add_argument("--small", action="store_true", help="60 k events, to try the harness")
    parser.add_argument("--huge", action="store_true", help="also a plain JSON file of 3 GB")
    parser.add_argument("--no-hta", action="store_true", help="leave HTA out")
    parser.add_argument(
        "--hta-rounds",
        type=int,
        default=1,
        metavar="N",
        help="how often HTA loads, minutes each [default: 1]",
    )
    add_folder(parser)
    options = parser.parse_args()
    if options.list:
        print("\n".join(cases.names()))
        return 0
    size = "small" if options.small else "full"
    session = cases.Session(
        options.only,
        size,
        options.data.resolve() / size,
        not options.no_hta,
        options.huge,
        options.hta_rounds,
    )
    try:
        session.run()
    except Failed as error:  # without data or an installed hta_sql there is nothing to measure
        print(error, file=sys.stderr)
        return 1
    outcome = report.result(session)
    print(report.text(outcome, judge=not options.small))
    if not (options.small or options.only or options.no_hta):
        print(f"\nwritten to {report.save(outcome).relative_to(ROOT)}")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
