"""The style of an audit's page: readable on a phone and on a wide screen, by day, by night and on paper."""

STYLE_SHEET = """
:root { color-scheme: light dark; --ink: #1d1d1f; --soft: #5a5a60; --line: #d9d9de; --page: #fff; --tile: #f5f5f7;
  --decides: #0b5c3b; --paper: #6b4a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf0; --soft: #a9a9b2; --line: #3b3b42; --page: #17171a; --tile: #222227;
    --decides: #7fd6ae; --paper: #e3bd6b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.2rem 0 .7rem; }
h3 { font-size: .95rem; line-height: 1.35; margin: 0; color: var(--soft); font-weight: 600; }
p { margin: .3rem 0; }
header p, figcaption, .read { color: var(--soft); font-size: .875rem; line-height: 1.45; }
.answers { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.answer { background: var(--tile); border-radius: .6rem; padding: .9rem 1rem; }
.short { font-weight: 650; }
.short::first-letter { text-transform: uppercase; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; margin: .5rem 0 1rem; }
figure { margin: 0; }
.paper-white { background: #fff; border: 1px solid var(--line); border-radius: .4rem; padding: .4rem; }
img { display: block; width: 100%; height: auto; }
figcaption { margin-top: .4rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .55rem .9rem .55rem 0; border-top: 1px solid var(--line);
  font-weight: 400; }
thead th { border-top: 0; color: var(--soft); font-size: .8rem; white-space: nowrap; }
td { white-space: nowrap; }
.figures tbody th { font-weight: 600; min-width: 15rem; }
.figures td { text-align: right; }
.figures thead th:not(:first-child) { text-align: right; }
.read { display: block; font-weight: 400; max-width: 36rem; margin-top: .15rem; }
.role { display: inline-block; font-size: .72rem; font-weight: 600; padding: 0 .45rem; border: 1px solid currentColor;
  border-radius: 1rem; color: var(--soft); white-space: nowrap; vertical-align: .08rem; }
.role.decides { color: var(--decides); }
.role.paper { color: var(--paper); }
.scroll { flex: 1 1 19rem; min-width: 0; overflow-x: auto; }
.shares caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
.shares th, .shares td { padding: .35rem 1.1rem .35rem 0; white-space: nowrap; }
.shares tbody th { max-width: 16rem; overflow: hidden; text-overflow: ellipsis; }
.shares td, .shares thead th:not(:first-child) { text-align: right; }
ul { padding-left: 1.2rem; margin: .3rem 0; }
li { margin: .35rem 0; }
@media (max-width: 40rem) {
  .figures thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .figures, .figures tbody { display: block; }
  .figures tr { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; border-top: 1px solid var(--line);
    padding: .7rem 0; }
  .figures th { display: block; width: 100%; padding: 0; border: 0; }
  .figures td { display: block; padding: .25rem 0 0; border: 0; text-align: left; font-weight: 600; }
  .figures td::before { content: attr(data-label); display: block; font-weight: 400; font-size: .75rem;
    color: var(--soft); }
  .figures td.none { display: none; }
}
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --tile: #fff; --decides: #0b5c3b; --paper: #6b4a00;
    font-size: 12px; }
  @page { margin: 15mm 14mm; }
  main { max-width: none; padding: 0; }
  h2 { margin-top: 1.6rem; }
  h2, h3, caption { break-after: avoid; }
  th, td { padding-top: .35rem; padding-bottom: .35rem; }
  .answers { grid-template-columns: repeat(3, 1fr); }
  .answer { border: 1px solid var(--line); padding: .6rem .8rem; }
  .answer, figure, tr, li, .pictures { break-inside: avoid; }
  .scroll { overflow: visible; }
  .shares { font-size: .85rem; }
  .shares th, .shares td { padding-right: .6rem; }
  .read { max-width: none; }
}
"""
