"""The project's own values for the quantities that R has computed, each with the tolerance that it is asserted with.

``tests/test_reference.py`` asserts them, and ``evidence/reference.py`` measures how near they come.
"""

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from evidence.coverage.run import kappa_error
from scipy import stats
from scipy.optimize import least_squares

from helpers.studies import bootstrap_of, draws_of, read
from sense7.findings import (
    agreement,
    conditions,
    disrupted,
    measures,
    poor_turn,
    ratings,
    reliability,
    robustness,
)
from sense7.findings.core import rank_correlation
from sense7.findings.measures import OUTCOMES
from sense7.judge.files import Run
from sense7.judge.scores import calibration, correlations
from sense7.judge.scores.metrics import OverRuns, mean_recall, run_metrics
from sense7.statistics import alpha, alternative_annotator, factor, rater_agreement
from sense7.statistics.cumulative_logit import fit_cumulative_logit
from sense7.statistics.mixed import fit_nested, nested_sums, satterthwaite_f
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
EXACT, CLOSED_FORM, ORDERED, FACTOR, MIXED_MODEL = (
    ("absolute", most) for most in (0, 1e-7, 1e-6, 5e-5, 2e-4)
)
TWO_LEVELS = ("absolute", 2e-3)
"""Of fit within conversations: from pooled covariances, or by maximum likelihood of both levels."""
RESAMPLED = ("absolute", 2e-3)
"""Of percentile limits, from other resamples of participants than R's: differences have a Monte Carlo error of .0002
to .0016."""
RELATIVE = ("relative", 1e-3)
"""Of p values and degrees of freedom: lme4 stops 2e-5 short of the largest likelihood, which moves small p values by
4e-4 of themselves. An absolute tolerance holds nothing where p is smaller than it."""


@cache
def reference():
    """What R gave: quantity -> value, in its order."""
    with (REFERENCE / "golden.csv").open(encoding="utf-8") as stream:
        return {row["quantity"]: float(row["value"]) for row in csv.DictReader(stream)}


def study():
    """The study whose values R computed."""
    return read(REFERENCE / "golden.xlsx")


def called(start):
    """What follows a start of names, as of conditions or traits, in R's order."""
    return [name.removeprefix(start) for name in reference() if name.startswith(start)]


@cache
def frames():
    """Ratings by their name in R, and the rule for missing ones."""
    turns, post = measures.turn_ratings(study()), measures.post_task_ratings(study())
    return {
        "turn_pairwise": (turns, "pairwise"),
        "turn_listwise": (turns, "listwise"),
        "turn_6dims_pairwise": (turns.drop(columns="Relational"), "pairwise"),
        "post": (post, "pairwise"),
    }


def with_experience_as_outcome():
    """In the reference a poor turn's outcome is the post-task experience, whose four ratings are equal there."""
    rows = study().conversations
    outcome = dict.fromkeys(OUTCOMES["empathy"], rows["successful"])
    return replace(study(), conversations=rows.assign(**outcome))


def of_counts():
    poor = poor_turn.poor_turn_conversations(with_experience_as_outcome())["poor"]
    counts = {"n_none_any_vs_none": poor == 0, "n_none_one_vs_none": poor == 0}
    counts |= {"n_poor_any_vs_none": poor > 0, "n_poor_one_vs_none": poor == 1}
    for name, holds in counts.items():
        yield name, holds.sum(), EXACT
    rows = {"n_turns": "turn_pairwise", "n_turns_listwise": "turn_listwise"}
    for name, which in (rows | {"n_conversations": "post"}).items():
        frame, missing = frames()[which]
        yield name, alpha.alpha_row(frame, draws_of(frame, 10), missing=missing)["n"], EXACT
    bootstrap = bootstrap_of(study())
    rated = ratings.applicability(study(), bootstrap)["estimate"]
    very_poor = ratings.shares_very_poor(study(), bootstrap)["estimate"]
    for name in RATING_NAMES:
        yield f"share_rated_{name}", rated[name], ("absolute", 1e-9)
        yield f"share_very_poor_of_rated_{name}", very_poor[name], CLOSED_FORM
    of_all = ratings.relational_very_poor_of_all(study(), bootstrap)["estimate"]
    yield "share_very_poor_of_all_Relational", of_all.item(), CLOSED_FORM


LOWER = ("alpha_feldt_lower", "alpha_feldt_lower_psych", "alpha_psychometric_lcl")
UPPER = ("alpha_feldt_upper", "alpha_feldt_upper_psych")


def of_alpha():
    for which, (frame, missing) in frames().items():
        draws = draws_of(frame, 10)
        plain = alpha.alpha_row(frame, draws, missing=missing)
        yield f"alpha_raw_{which}", plain["estimate"], CLOSED_FORM
        feldt = alpha.alpha_row(frame, draws, missing=missing, interval="feldt")
        for name in LOWER:
            yield f"{name}_{which}", feldt["low"], CLOSED_FORM
        for name in UPPER:
            yield f"{name}_{which}", feldt["high"], CLOSED_FORM
        # Listwise, R leaves out the incomplete turns first, those that lack the dimension left out among them.
        used = frame.dropna() if missing == "listwise" else frame
        dropped = reliability.alpha_if_dropped(used, draws)["estimate"]
        rest = reliability.item_rest(used, draws)["estimate"]
        for name in used:
            yield f"alpha_if_dropped_{which}_{name}", dropped[name], CLOSED_FORM
            yield f"item_rest_r_{which}_{name}", rest[name], CLOSED_FORM
        average = reliability.average_correlation_table(used, draws)
        yield f"avg_r_{which}", average["estimate"].iloc[0], CLOSED_FORM
    several = robustness.multiverse(study(), bootstrap_of(study(), 10), "alpha_turn")
    plain = several[(several["coding"] == "five levels") & (several["exclusions"] == "none")]
    for (missing, items), rows in plain.groupby(["missing", "dimensions"]):
        which = "pairwise" if missing == "ratings given" else "listwise"
        if items == "all seven" or which == "pairwise":
            which = f"turn_{which}" if items == "all seven" else "turn_6dims_pairwise"
            yield f"alpha_raw_{which}", rows["estimate"].item(), CLOSED_FORM


def minres_loadings(correlations):
    """Loadings of one factor by least squares of the residuals, each uniqueness at least .005."""
    first, second = np.triu_indices(len(correlations), 1)
    target, bound = correlations[first, second], np.sqrt(0.995)
    start = np.full(len(correlations), 0.7)

    def residuals(loading):
        return loading[first] * loading[second] - target

    return least_squares(residuals, start, bounds=(-bound, bound), xtol=1e-12, ftol=1e-12).x


def of_one_factor():
    for which in ("turn_listwise", "post"):
        frame = frames()[which][0].dropna()
        eigenvalues = reliability.parallel_analysis(frame, seed=1)["components"]
        kept = reliability.retained(frame, seed=1).set_index("key")["estimate"]
        for place in (1, 2):
            yield f"eigen{place}_{which}", eigenvalues[place], CLOSED_FORM
        yield f"parallel_ncomp_{which}", kept["parallel_components_turn"], EXACT
        yield f"parallel_nfact_{which}", kept["parallel_factors_turn"], EXACT
        omega = reliability.omega_and_loadings(frame, draws_of(frame)).omega["estimate"].iloc[0]
        yield f"omega_total_ml_{which}", omega, FACTOR
        fit = reliability.fit_indices(frame)["estimate"]
        for name in ("CFI", "RMSEA", "SRMR"):
            yield f"cfa1_{name.lower()}_{which}", fit[name], MIXED_MODEL
        covariances, correlations = np.cov(frame.to_numpy().T), frame.corr().to_numpy()
        scale, loadings = np.sqrt(np.diag(covariances)), minres_loadings(correlations)
        common = (factor.fit_one_factor(correlations).loadings @ scale) ** 2
        yield f"omega_cfa_{which}", common / covariances.sum(), MIXED_MODEL
        yield f"omega_total_minres_{which}", factor.omega_total(loadings, 1 - loadings**2), FACTOR


def of_one_factor_within():
    complete = measures.nested_turn_ratings(study()).dropna()
    conversation_mean = complete.groupby("conversation")["Prosocial"].transform("mean")
    prosocial = complete["Prosocial"] - conversation_mean
    pair = complete.assign(Response=complete["Response"] + prosocial / 2)
    for which, frame in {"turn": complete, "pair": pair}.items():
        fit = reliability.within_fit_indices(frame)["estimate"]
        for name in ("CFI", "RMSEA", "SRMR"):
            yield f"cfa_within_{name.lower()}_{which}", fit[name], MIXED_MODEL
        for name in ("RMSEA", "SRMR"):
            yield f"cfa_two_levels_{name.lower()}_{which}", fit[name], TWO_LEVELS


def of_agreement():
    turns = study().turns
    for weights, short in (("linear", "lin"), ("quadratic", "quad")):
        table = agreement.agreement_with_overall(study(), bootstrap_of(study()), weights)
        for name in DIMENSION_NAMES:
            yield f"kappa_{short}_{name}_overall", table.loc[name, "estimate"], CLOSED_FORM
        for name in called(f"kappa_{short}_vcd_"):
            both = turns[[name, "overall"]].dropna().to_numpy().astype(int) - 1
            counts = np.bincount(5 * both[:, 0] + both[:, 1], minlength=25).reshape(5, 5)
            counts = counts.astype(float)
            for quantity, value in zip(("vcd", "ASE"), kappa_error(counts, weights), strict=True):
                yield f"kappa_{short}_{quantity}_{name}", value, CLOSED_FORM
    judged = pd.read_csv(REFERENCE / "judge_turns.csv")
    both = turns.merge(judged, on=["conversation", "turn"]).dropna(subset=["overall", "judge"])
    run = Run.of(both.rename(columns={"overall": "ground_truth", "judge": "score"}))
    table = run_metrics(run)["estimate"]
    same = {"mae": "mean_absolute_error", "kappa_quad": "quadratic_kappa"}
    for name in ("spearman", "accuracy", "macro_f1", "mae", "kappa_quad"):
        yield f"judge_{name}", table[same.get(name, name)], CLOSED_FORM
    rated = turns.dropna(subset=["overall"])
    sums = rater_agreement.icc_sums(rated["overall"], rated["participant"])[0].sum(axis=0)
    yield "icc1_anova_participant", rater_agreement.icc_of_sums(sums), CLOSED_FORM


def judged_turns():
    """Rated turns with the judge's score and a name of their own, as predictions of a run name a conversation."""
    judged = pd.read_csv(REFERENCE / "judge_turns.csv")
    rows = study().turns.merge(judged, on=["conversation", "turn"]).dropna(subset=["overall"])
    name = rows["conversation"] + " " + rows["turn"].astype(str)
    return rows.assign(conversation=name, ground_truth=rows["overall"], score=rows["judge"])


def of_judge():
    run = judged_turns()
    bootstrap = bootstrap_of(study())
    lengths = run.set_index("conversation")[["Affective"]]
    over = OverRuns({"1": Run.of(run)}, bootstrap, lengths=lengths)
    for name, value in mean_recall(over)["estimate"].items():
        yield f"judge_{name}", value, CLOSED_FORM
    rests_on = correlations.what_it_rests_on(over)["estimate"]
    yield "judge_spearman_within", rests_on["within_participants"], CLOSED_FORM
    yield "judge_spearman_between", rests_on["between_participants"], CLOSED_FORM
    yield "judge_spearman_given_Affective", rests_on["given_Affective"], CLOSED_FORM

    # Each of ten participants is a fold of ten, so that the folds do not depend on their order.
    ten = np.unique(run["participant"])[:10]
    run_of_ten = Run.of(run[run["participant"].isin(ten)])
    calibrated = calibration.Calibrated.of(run_of_ten)
    errors = calibration.calibration_errors(calibrated, bootstrap)
    others = calibration.agreement_after_calibration(calibrated, bootstrap)
    for table in (errors, others):
        for key, value in table.set_index("key")["estimate"].items():
            if key:
                yield key, value, CLOSED_FORM


def of_alternative_annotators():
    post = measures.post_task_ratings(study())
    overall = study().conversations["successful"]
    wins = alternative_annotator.wins(overall.to_numpy(), post.to_numpy())
    once_each = np.ones((1, len(post)))
    for epsilon in ("0.07", "0.2"):
        test = alternative_annotator.alternative_test(wins, float(epsilon), once_each)
        rate = alternative_annotator.winning_rate(test.p)[0]
        yield f"alternative_winning_rate_{epsilon}", rate, CLOSED_FORM
        for name, advantage, p in zip(post, test.advantage[0], test.p[0], strict=True):
            yield f"alternative_advantage_{name}", advantage, CLOSED_FORM
            yield f"alternative_p_{epsilon}_{name}", p, ("relative", 1e-7)


UNITS = ("participant", "condition", "conversation")
PARTS = {"participant": 0, "conversation": 2, "Residual": 3}
MODELS = {
    # conditions as effects, parts of the variance
    "lmm_null": (False, PARTS),
    "lmm_pc": (True, PARTS),
    "lmm_pmc": (True, PARTS | {"pm": 1}),
    "lmm_post": (True, {"participant": 0, "Residual": 3}),
}


def of_mixed_models():
    names = called("emmean_")
    for model, (effects, parts) in MODELS.items():
        after = model == "lmm_post"  # one row for each conversation
        outcome, rows = (
            ("successful", study().conversations) if after else ("overall", study().turns)
        )
        rows = rows.dropna(subset=[outcome])
        y = rows[outcome].to_numpy()
        shown = names[1:] if effects else []
        others = [rows["condition"] == name for name in shown]
        design = np.column_stack([np.ones(len(rows)), *others]).astype(float)
        units = [rows[name] for name in UNITS[: 2 if after else 3]]
        sums = nested_sums(y, design, *units)
        sums.free[1] &= "pm" in parts
        fit = fit_nested(sums)
        for part, place in parts.items():
            yield f"{model}_var_{part}", fit.variances[place], MIXED_MODEL
        yield f"{model}_logLik", -fit.deviance / 2, MIXED_MODEL
        errors = np.sqrt(np.diag(fit.covariance))
        for place, effect in enumerate(["(Intercept)", *(f"model{name}" for name in shown)]):
            yield f"{model}_b_{effect}", fit.coefficients[place], MIXED_MODEL
            yield f"{model}_se_{effect}", errors[place], MIXED_MODEL
        if model == "lmm_pmc":
            of_each = np.column_stack([rows["condition"] == name for name in names])
            means = fit_nested(nested_sums(y, of_each, *units)).coefficients
            for name, mean in zip(names, means, strict=True):
                yield f"emmean_{name}", mean, MIXED_MODEL
            f, freedom, p = satterthwaite_f(sums, fit, np.eye(len(names))[1:])
            # Of itself: the likelihood's 2e-5 move F by 3e-4.
            yield "lmm_F_model_satt", f, ("relative", 2e-4)
            yield "lmm_dendf_model_satt", freedom, RELATIVE
            yield "lmm_p_model_satt", p, RELATIVE


def of_agreement_within_participants():
    """Each participant's conversations have the participant's mean; then 0.01 more in one and less in the next."""
    rows = study().conversations
    people = rows.groupby("participant")
    mean = people["successful"].transform("mean")
    constant = np.ones((len(rows), 1))
    exact = fit_nested(nested_sums(mean, constant, rows["participant"]))
    yield "lmm_exact_var_participant", exact.variances[0], MIXED_MODEL
    near = mean - 0.01 * (-1.0) ** people.cumcount()
    fit = fit_nested(nested_sums(near, constant, rows["participant"]))
    yield "lmm_near_var_participant", fit.variances[0], MIXED_MODEL
    yield "lmm_near_var_Residual", fit.variances[3], RELATIVE
    yield "lmm_near_logLik", -fit.deviance / 2, MIXED_MODEL
    yield "lmm_near_b_(Intercept)", fit.coefficients[0], MIXED_MODEL
    yield "lmm_near_se_(Intercept)", np.sqrt(fit.covariance[0, 0]), MIXED_MODEL


def of_continuity():
    losses = disrupted.continuity_losses(study(), bootstrap_of(study(), 20_000)).set_index("key")
    rows = {
        "loss_after_failure": "continuity_loss_after_failure",
        "contrast_next_turn": "continuity_contrast_next_turn",
        "failure_next_turn": "continuity_failure_next_turn",
        "others_next_turn": "other_failures_next_turn",
        "contrast_same_turn": "continuity_contrast_same_turn",
    }
    for name, key in rows.items():
        yield f"continuity_{name}", losses.loc[key, "estimate"], CLOSED_FORM
        yield f"continuity_low_{name}", losses.loc[key, "low"], RESAMPLED
        yield f"continuity_high_{name}", losses.loc[key, "high"], RESAMPLED


def of_expectations():
    """All wished for the same in the reference study, so a wish is made of the number of the conversation."""
    number = study().conversations["conversation"].str[1:].astype(int)
    wishes = study().conversations.assign(desired_empathy=1.0 + number % 3)
    with_wishes = replace(study(), conversations=wishes)
    losses = disrupted.unmet_expectations(with_wishes, bootstrap_of(study()))
    for key, row in losses.set_index("key").iterrows():
        name = key.removeprefix("expectation_")
        yield key, row["estimate"], MIXED_MODEL
        yield f"expectation_low_{name}", row["low"], MIXED_MODEL
        yield f"expectation_high_{name}", row["high"], MIXED_MODEL


def of_conditions():
    turns = study().turns.dropna(subset=["overall", "condition"])
    found = conditions.mixed_contrasts(
        study(), bootstrap_of(study()), turns.assign(y=turns["overall"].astype(float))
    )
    for pair in called("contrast_("):
        first, second = pair.removesuffix(")").split(")-(")
        row, sign = f"{first} minus {second}", 1
        if row not in found.differences.index:
            row, sign = f"{second} minus {first}", -1
        low, high, estimate = found.differences.loc[row, ["low", "high", "estimate"]]
        reach = stats.t.ppf(0.975, reference()[f"contrast_df_({pair}"])
        yield f"contrast_({pair}", sign * estimate, MIXED_MODEL
        yield f"contrast_se_({pair}", (high - low) / 2 / reach, MIXED_MODEL
        yield f"contrast_p_holm_({pair}", found.pairs.loc[row, "p (Holm)"], RELATIVE
        yield f"contrast_df_({pair}", float(found.shown.loc[row, "degrees of freedom"]), RELATIVE
    names = called("emmean_")
    design = np.column_stack([turns["condition"] == name for name in names[1:]])
    fit = fit_cumulative_logit(turns["overall"].to_numpy(), design, turns["participant"])
    yield "clm_logLik", fit.log_likelihood, ORDERED
    for name, b in zip(names[1:], fit.coefficients, strict=True):
        yield f"clm_b_model{name}", b, ORDERED
    for cut, at in enumerate(fit.thresholds, 1):
        yield f"clm_b_{cut}|{cut + 1}", at, ORDERED


def of_poor_turns():
    bootstrap = bootstrap_of(study())
    table = poor_turn.poor_turn_effects(with_experience_as_outcome(), bootstrap)
    effects = table["estimate"]
    any_turn, one_turn = "at least one poor turn", "exactly one poor turn"
    yield "d_any_vs_none", effects[f"{any_turn}, between conversations"], CLOSED_FORM
    yield "d_one_vs_none", effects[f"{one_turn}, between conversations"], CLOSED_FORM
    yield "d_av_participant", effects[f"{any_turn}, within participants"], CLOSED_FORM
    yield "d_participant_n", table.loc[f"{any_turn}, within participants", "n"], EXACT
    yield "d_lmm_total", effects[f"{any_turn}, mixed model"], MIXED_MODEL
    of_turns = poor_turn.poor_turn_effects(study(), bootstrap)["estimate"]
    overall = f"{any_turn}, overall rating of"
    yield "d_overall", of_turns[f"{overall} all turns"], CLOSED_FORM
    yield "d_overall_not_poor", of_turns[f"{overall} turns not poor"], CLOSED_FORM
    rows = poor_turn.poor_turn_conversations(with_experience_as_outcome())
    design = np.column_stack([np.ones(len(rows)), rows["poor"] > 0]).astype(float)
    fit = fit_nested(nested_sums(rows["outcome"], design, rows["participant"]))
    yield "d_lmm_b", fit.coefficients[1], MIXED_MODEL
    yield "d_lmm_se", np.sqrt(fit.covariance[1, 1]), MIXED_MODEL


def of_characteristics():
    """R relates traits to the participants' mean overall rating of turns."""
    traits = called("char_rho_")
    means = study().turns.groupby("participant")["overall"].mean()
    answers = study().participants.set_index("participant")
    for trait in traits:
        known = answers[trait].reindex(means.index).dropna()
        rhos = rank_correlation(bootstrap_of(study()), known, means[known.index], known.index)
        yield f"char_rho_{trait}", rhos[0], CLOSED_FORM


OURS = (
    of_counts,
    of_alpha,
    of_one_factor,
    of_one_factor_within,
    of_agreement,
    of_judge,
    of_alternative_annotators,
    of_mixed_models,
    of_agreement_within_participants,
    of_conditions,
    of_continuity,
    of_expectations,
    of_poor_turns,
    of_characteristics,
)


@cache
def errors_of(family):
    """Quantity, kind of its tolerance, tolerance, and error of each value that a function of `OURS` gives."""
    found = []
    for quantity, value, (kind, most) in family():
        wanted = reference()[quantity]
        error = abs(float(value) - wanted)
        found.append((quantity, kind, most, error / abs(wanted) if kind == "relative" else error))
    return found
