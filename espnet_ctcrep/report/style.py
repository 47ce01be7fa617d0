"""The style sheet of the HTML report: light and dark, wide and narrow, screen and paper."""

__all__ = ["PAGE_STYLE"]

PAGE_STYLE = """\
:root {
  --ink: #1b1b1e; --muted: #62656a; --rule: #d5d6d8; --paper: #fefefe; --wash: #f4f4f2;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9;
  --text: Charter, "Bitstream Charter", "Iowan Old Style", "Source Serif 4", Georgia, serif;
  --figures: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans",
    sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ink: #e9e8e4; --muted: #a3a5a8; --rule: #3d4045; --paper: #17181a; --wash: #202225;
    --c0: #56b4e9; --c1: #e8853a; --c2: #2fb890; --c3: #d993bb; --c4: #f0b63c; --c5: #9fd3f2;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 60rem; padding: 2.5rem 1.25rem 4rem;
  color: var(--ink); background: var(--paper);
  font: 1.0625rem/1.55 var(--text); overflow-wrap: break-word;
}
header { border-bottom: 1px solid var(--rule); padding-bottom: 1.1rem; }
h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 600; margin: 0.15rem 0 0.7rem; }
h2 { font-size: 1.2rem; line-height: 1.3; font-weight: 600; margin: 2.6rem 0 0.5rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 1.6rem 0 0.3rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
.label { font: 600 0.8rem/1.4 var(--figures); letter-spacing: 0.06em; text-transform: uppercase;
  color: var(--muted); margin: 0; max-width: none; }
.label span { font-weight: 400; letter-spacing: 0; text-transform: none; }
.facts { font: 0.875rem/1.5 var(--figures); color: var(--muted); max-width: none; }
.finding { margin: 1.1rem 0; padding-left: 0.9rem; border-left: 3px solid var(--rule); }
.finding.decided { border-left-color: var(--ink); }
.finding p { margin: 0; }
.finding .what { font-weight: 600; }
figure { margin: 1rem 0 0.5rem; }
figure svg { display: block; width: 100%; height: auto; }
figure svg text { font-family: var(--figures) !important; }
figcaption, caption { font: 0.84rem/1.45 var(--figures); color: var(--muted); text-align: left; }
figcaption { margin-top: 0.5rem; max-width: 50rem; }
caption { padding-bottom: 0.45rem; }
.narrow { display: none; }
table { width: 100%; border-collapse: collapse; margin: 1.3rem 0 0.6rem;
  font: 0.84rem/1.35 var(--figures); font-variant-numeric: tabular-nums lining-nums; }
thead { border-top: 1.5px solid var(--ink); border-bottom: 1px solid var(--ink); }
tbody { border-bottom: 1.5px solid var(--ink); }
tbody tr.arm-start { border-top: 1px solid var(--ink); }
tbody tr + tr.primary-start { border-top: 1px solid var(--rule); }
th, td { padding: 0.3rem 0.45rem; text-align: right; vertical-align: baseline; }
th { font-weight: 600; }
th.words, td.words { text-align: left; }
td.number { white-space: nowrap; }
tbody th { font-weight: 400; white-space: nowrap; }
td.decided { font-weight: 700; }
ul { padding-left: 1.1rem; margin: 0.4rem 0; }
li { margin: 0.25rem 0; max-width: 46rem; }
.reasons { font-size: 0.95rem; list-style: none; padding-left: 0; }
.reasons b { font-weight: 600; }
.reasons .note { color: var(--muted); }
@media screen and (max-width: 640px) {
  body { padding: 1.5rem 1rem 3rem; font-size: 1rem; }
  h1 { font-size: 1.4rem; }
  .wide { display: none; }
  .narrow { display: block; }
}
@media screen and (max-width: 980px) {
  table, caption, tbody, tr, th, td { display: block; width: auto; }
  thead { display: none; }
  table { border-top: 1.5px solid var(--ink); }
  caption { padding: 0.5rem 0; border-bottom: 1px solid var(--ink); }
  tbody tr { padding: 0.45rem 0; border-bottom: 1px solid var(--rule); }
  tbody th { font-weight: 600; padding: 0.1rem 0; text-align: left; white-space: normal; }
  td, td.words { display: flex; justify-content: space-between; gap: 1rem; padding: 0.1rem 0;
    text-align: right; }
  td::before { content: attr(data-label); color: var(--muted); text-align: left; flex: none; }
}
@media print {
  @page { margin: 18mm 16mm; }
  html { font-size: 11px; }
  body { max-width: none; padding: 0; }
  figure, .finding, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
}
"""
