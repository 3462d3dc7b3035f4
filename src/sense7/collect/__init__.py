"""Ratings of one's own: a page that people rate conversations on, and a workbook of what they downloaded.

One way: a study file (:mod:`sense7.collect.study`) and conversations make
one HTML file (:mod:`sense7.collect.page`). The downloads of many people are checked, and become a workbook, in
:mod:`sense7.collect.gathering`.

The page is plain HTML and script, about 50 kB without conversations. SurveyJS (MIT) would bring 1.8 MB of scripts and
0.5 MB of styles into each file, and JSON Forms (MIT) needs React, Angular or Vue; neither shows a conversation turn by
turn. What a study file may hold is in ``study_schema.json``.
"""
