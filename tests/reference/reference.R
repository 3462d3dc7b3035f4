#!/usr/bin/env Rscript
# Reference values for the statistics of this project, computed in R.
#
#   Rscript tests/reference/reference.R VALUES.csv
#
# It reads golden.xlsx (a simulated study in the official layout) and judge_turns.csv (a simulated judge's scores),
# both beside this script, and writes one row per quantity: quantity, method, r_package, value. `make reference` runs
# it and compares the values with golden.csv, those that the Python tests assert.
#
# Each section is one function. `record` is called once for each quantity; the method is the R call that gave the value.


# ---- Packages -------------------------------------------------------------------------------------------------------

# R package -> package of Debian 12 that has it.
DEBIAN <- c(
  boot = "r-cran-boot",
  effectsize = "r-cran-effectsize",
  emmeans = "r-cran-emmeans",
  GPArotation = "r-cran-gparotation",  # psych::omega rotates with it
  lavaan = "r-cran-lavaan",
  lme4 = "r-cran-lme4",
  lmerTest = "r-cran-lmertest",
  ordinal = "r-cran-ordinal",
  psych = "r-cran-psych",
  psychometric = "r-cran-psychometric",
  readxl = "r-cran-readxl",
  semTools = "r-cran-semtools",
  vcd = "r-cran-vcd"
)

is_installed <- function(name) nzchar(system.file(package = name))

absent <- names(DEBIAN)[!vapply(names(DEBIAN), is_installed, logical(1))]
if (length(absent) > 0) {
  message(
    "R lacks ", paste(absent, collapse = ", "), ". On Debian: apt install ", paste(DEBIAN[absent], collapse = " ")
  )
  quit(status = 3)
}

options(
  mc.cores = 1,  # fa.parallel draws in as many processes as there are cores, and the draws would depend on them
  warn = 1
)
emmeans::emm_options(
  lmer.df = "satterthwaite",
  lmerTest.limit = 20000  # above this number of rows emmeans would give no degrees of freedom
)


# ---- What is recorded -----------------------------------------------------------------------------------------------

recorded <- list()

# "psych 2.2.9"; base and stats have the version of R.
with_version <- function(package) {
  if (package %in% c("base", "stats")) {
    return(paste0(package, " R-", getRversion()))
  }
  paste(package, packageVersion(package))
}

# Ten significant digits: more than any tolerance of the tests. The last ones of mixed models differ from run to run.
record <- function(quantity, method, package, value) {
  row <- data.frame(
    quantity = quantity,
    method = method,
    r_package = with_version(package),
    value = sprintf("%.10g", as.numeric(value))
  )
  recorded[[length(recorded) + 1]] <<- row
}

# One quantity for each element of a named vector.
record_each <- function(prefix, method, package, values, suffix = "") {
  for (name in names(values)) {
    record(paste0(prefix, name, suffix), method, package, values[[name]])
  }
}


# ---- Data -----------------------------------------------------------------------------------------------------------

DIMENSIONS <- c("Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational")
CONDITIONS <- c("llama2-70b", "gpt-3.5", "gpt-4", "gpt-4-emp")
WORDS <- c("Very poor", "Poor", "Neutral", "Good", "Very good")  # 1 .. 5; "Unknown" is no rating

# One row per assistant turn: participant, conversation, model, turn, the seven ratings, overall.
read_turns <- function(folder) {
  workbook <- file.path(folder, "golden.xlsx")
  tasks <- read_tasks(folder)
  messages <- as.data.frame(readxl::read_excel(workbook, "Messages", col_types = "text"))
  messages <- messages[messages$Role == "assistant", ]
  messages <- messages[order(messages$TaskId, as.numeric(messages$MessageId)), ]
  turns <- data.frame(conversation = messages$TaskId)
  turns$turn <- ave(seq_along(turns$conversation), turns$conversation, FUN = seq_along)
  for (name in DIMENSIONS) {
    turns[[name]] <- match(messages[[name]], WORDS)
  }
  turns$overall <- match(messages$EmpathyOverall, WORDS)
  place <- match(turns$conversation, tasks$conversation)
  turns$participant <- tasks$participant[place]
  turns$model <- tasks$model[place]
  turns
}

# One row per conversation: participant, conversation, model, the seven ratings after it, overall. The four questions
# on the experience have equal answers in this workbook; the first of them is the overall rating.
read_tasks <- function(folder) {
  sheet <- as.data.frame(readxl::read_excel(file.path(folder, "golden.xlsx"), "Tasks"))
  tasks <- data.frame(conversation = sheet$TaskId, participant = sheet$PID, model = factor(sheet$Model, CONDITIONS))
  for (name in DIMENSIONS) {
    tasks[[name]] <- sheet[[paste0("PostTaskEmpathy_", name)]]
  }
  tasks$overall <- sheet$PostTaskExperience_Successful
  tasks[order(tasks$conversation), ]
}

read_participants <- function(folder) {
  as.data.frame(readxl::read_excel(file.path(folder, "golden.xlsx"), "Participants"))
}

# One number per group of rows, in the order in which the groups occur.
mean_by <- function(values, groups) {
  means <- aggregate(list(mean = values), groups, mean)
  means[order(means[[1]]), ]
}


# ---- Counts and shares ----------------------------------------------------------------------------------------------

counts <- function(turns, tasks) {
  record("n_turns", "nrow", "base", nrow(turns))
  record("n_turns_listwise", "sum(complete.cases)", "base", sum(complete.cases(turns[DIMENSIONS])))
  record("n_conversations", "nrow", "base", nrow(tasks))
  for (name in c(DIMENSIONS, "overall")) {
    record(paste0("share_rated_", name), "mean(!is.na)", "base", mean(!is.na(turns[[name]])))
  }
  for (name in c(DIMENSIONS, "overall")) {
    very_poor <- turns[[name]] == 1
    record(paste0("share_very_poor_of_rated_", name), "mean(na.rm = TRUE)", "base", mean(very_poor, na.rm = TRUE))
  }
  of_all <- turns$Relational %in% 1  # not rated counts as not very poor
  record("share_very_poor_of_all_Relational", "mean(%in%)", "base", mean(of_all))
}


# ---- Internal consistency -------------------------------------------------------------------------------------------

internal_consistency <- function(ratings, which) {
  name <- function(quantity) paste0(quantity, "_", which)
  call <- "psych::alpha(use = 'pairwise')"
  found <- suppressWarnings(psych::alpha(ratings, check.keys = FALSE, use = "pairwise"))
  alpha <- found$total$raw_alpha
  record(name("alpha_raw"), paste0(call, "$total$raw_alpha"), "psych", alpha)
  record(name("avg_r"), paste0(call, "$total$average_r"), "psych", found$total$average_r)

  # Feldt's interval by its formula, and as two packages give it. Its n is the number of rows.
  n <- nrow(ratings)
  k <- ncol(ratings)
  limit <- function(share) 1 - (1 - alpha) * qf(share, n - 1, (n - 1) * (k - 1))
  record(name("alpha_feldt_lower"), "1 - (1 - alpha) * qf(.975, n - 1, (n - 1)(k - 1))", "stats", limit(.975))
  record(name("alpha_feldt_upper"), "1 - (1 - alpha) * qf(.025, n - 1, (n - 1)(k - 1))", "stats", limit(.025))
  record(name("alpha_feldt_lower_psych"), paste0(call, "$feldt$lower.ci"), "psych", found$feldt$lower.ci)
  record(name("alpha_feldt_upper_psych"), paste0(call, "$feldt$upper.ci"), "psych", found$feldt$upper.ci)
  interval <- psychometric::alpha.CI(alpha, k, n, 0.95)
  record(name("alpha_psychometric_lcl"), "psychometric::alpha.CI(level = 0.95)$LCL", "psychometric", interval$LCL)

  for (place in seq_len(k)) {
    item <- names(ratings)[place]
    record(
      paste0("item_rest_r_", which, "_", item), paste0(call, "$item.stats$r.drop"), "psych",
      found$item.stats$r.drop[place]
    )
    record(
      paste0("alpha_if_dropped_", which, "_", item), paste0(call, "$alpha.drop$raw_alpha"), "psych",
      found$alpha.drop$raw_alpha[place]
    )
  }
}


# ---- One factor -----------------------------------------------------------------------------------------------------

# Omega total of one factor: the squared sum of the loadings, over itself and the sum of the unique variances.
omega_of <- function(fit) {
  common <- sum(fit$loadings)^2
  common / (common + sum(fit$uniquenesses))
}

one_factor <- function(ratings, which) {
  name <- function(quantity) paste0(quantity, "_", which)
  minres <- psych::fa(ratings, 1, fm = "minres")
  record(name("omega_total_minres"), "psych::fa(nfactors = 1, fm = 'minres')", "psych", omega_of(minres))
  likelihood <- psych::fa(ratings, 1, fm = "ml")
  record(name("omega_total_ml"), "psych::fa(nfactors = 1, fm = 'ml')", "psych", omega_of(likelihood))
  three <- suppressMessages(suppressWarnings(psych::omega(ratings, nfactors = 3, plot = FALSE)))
  record(name("omega_h_3f"), "psych::omega(nfactors = 3)$omega_h", "psych", three$omega_h)
  record(name("omega_tot_3f"), "psych::omega(nfactors = 3)$omega.tot", "psych", three$omega.tot)

  model <- paste("f =~", paste(names(ratings), collapse = " + "))
  fit <- lavaan::cfa(model, ratings, std.lv = TRUE)
  indices <- c("cfi", "rmsea", "srmr")
  record_each(
    "cfa1_", "lavaan::cfa(std.lv = TRUE), lavaan::fitMeasures", "lavaan", lavaan::fitMeasures(fit)[indices],
    paste0("_", which)
  )
  record(name("omega_cfa"), "semTools::compRelSEM(lavaan::cfa)", "semTools", semTools::compRelSEM(fit))

  values <- eigen(cor(ratings))$values
  record(name("eigen1"), "eigen(cor)$values", "base", values[1])
  record(name("eigen2"), "eigen(cor)$values", "base", values[2])

  set.seed(1)
  invisible(capture.output(parallel <- suppressMessages(suppressWarnings(
    psych::fa.parallel(ratings, fa = "both", plot = FALSE, n.iter = 100, quant = .95)
  ))))
  record(name("parallel_nfact"), "psych::fa.parallel(fa = 'both', quant = .95)$nfact", "psych", parallel$nfact)
  record(name("parallel_ncomp"), "psych::fa.parallel(fa = 'both', quant = .95)$ncomp", "psych", parallel$ncomp)
}


# One factor within conversations, of the complete turns: fitted to the pooled covariances within them, and by maximum
# likelihood of both levels, with any covariances between conversations (Ryu & West, 2009). The factor fits these
# ratings perfectly, so it is also fitted to ratings of which two have more in common within conversations.
one_factor_within <- function(complete) {
  record_within(complete, "turn")
  prosocial <- complete$Prosocial - ave(complete$Prosocial, complete$conversation)
  complete$Response <- complete$Response + prosocial / 2
  record_within(complete, "pair")
}

record_within <- function(complete, which) {
  n <- nrow(complete)
  conversations <- as.numeric(factor(complete$conversation))
  freedom <- n - length(unique(conversations))
  by_conversation <- psych::statsBy(data.frame(complete[DIMENSIONS], conversations), "conversations", cor = "cov")
  pooled <- by_conversation$rwg * (n - 1) / freedom
  dimnames(pooled) <- list(DIMENSIONS, DIMENSIONS)
  factor_model <- paste("f =~", paste(DIMENSIONS, collapse = " + "))
  fit <- lavaan::cfa(
    factor_model, sample.cov = pooled, sample.nobs = freedom, sample.cov.rescale = FALSE, std.lv = TRUE
  )
  indices <- lavaan::fitMeasures(fit)[c("cfi", "rmsea", "srmr")]
  call <- "lavaan::cfa(sample.cov = psych::statsBy()$rwg, sample.nobs = turns - conversations), lavaan::fitMeasures"
  record_each("cfa_within_", call, "lavaan", indices, paste0("_", which))

  any_between <- vapply(
    seq_along(DIMENSIONS),
    function(place) paste(DIMENSIONS[place], "~~", paste(DIMENSIONS[place:length(DIMENSIONS)], collapse = " + ")),
    character(1)
  )
  model <- paste(c("level: 1", factor_model, "level: 2", any_between), collapse = "\n")
  fit <- suppressWarnings(lavaan::sem(model, complete, cluster = "conversation", std.lv = TRUE))
  of_both <- lavaan::fitMeasures(fit)
  excess <- max(of_both[["chisq"]] - of_both[["df"]], 0)
  of_two <- c(rmsea = sqrt(excess / (of_both[["df"]] * freedom)), srmr = of_both[["srmr_within"]])
  call <- "lavaan::sem(level: 1 f =~ ..., level: 2 saturated)"
  record_each("cfa_two_levels_", call, "lavaan", of_two, paste0("_", which))
}


# ---- Agreement with the overall rating ------------------------------------------------------------------------------

LEVELS <- 1:5

levels_table <- function(first, second) {
  both <- !is.na(first) & !is.na(second)
  table(factor(first[both], LEVELS), factor(second[both], LEVELS))
}

agreement <- function(turns) {
  linear <- outer(LEVELS, LEVELS, function(i, j) 1 - abs(i - j) / 4)
  for (name in DIMENSIONS) {
    counts <- levels_table(turns[[name]], turns$overall)
    quadratic <- suppressWarnings(psych::cohen.kappa(matrix(counts, 5), n.obs = sum(counts)))
    record(
      paste0("kappa_quad_", name, "_overall"), "psych::cohen.kappa()$weighted.kappa", "psych",
      quadratic$weighted.kappa
    )
    by_step <- suppressWarnings(psych::cohen.kappa(matrix(counts, 5), w = linear, n.obs = sum(counts)))
    record(
      paste0("kappa_lin_", name, "_overall"), "psych::cohen.kappa(w = linear)$weighted.kappa", "psych",
      by_step$weighted.kappa
    )
    # The errors, which psych gives by another formula, for the first dimension and the last.
    if (name %in% c("Affective", "Relational")) {
      kappas_with_errors(counts, name)
    }
  }
}

kappas_with_errors <- function(counts, name) {
  squared <- vcd::Kappa(counts, weights = "Fleiss-Cohen")
  equal <- vcd::Kappa(counts, weights = "Equal-Spacing")
  quadratic <- "vcd::Kappa(weights = 'Fleiss-Cohen')"
  linear <- "vcd::Kappa(weights = 'Equal-Spacing')"
  record(paste0("kappa_quad_ASE_", name), paste0(quadratic, "$Weighted ASE"), "vcd", squared$Weighted[["ASE"]])
  record(paste0("kappa_lin_ASE_", name), paste0(linear, "$Weighted ASE"), "vcd", equal$Weighted[["ASE"]])
  record(paste0("kappa_unw_", name, "_overall"), "vcd::Kappa$Unweighted", "vcd", squared$Unweighted[["value"]])
  record(paste0("kappa_quad_vcd_", name), paste0(quadratic, "$Weighted"), "vcd", squared$Weighted[["value"]])
  record(paste0("kappa_lin_vcd_", name), paste0(linear, "$Weighted"), "vcd", equal$Weighted[["value"]])
}


# ---- Metrics of a judge ---------------------------------------------------------------------------------------------

judge_metrics <- function(turns) {
  rated <- turns[!is.na(turns$overall), ]
  judge <- rated$judge
  overall <- rated$overall
  n <- nrow(rated)
  rho <- cor(judge, overall, method = "spearman")
  record("judge_spearman", "cor(method = 'spearman')", "stats", rho)
  record("judge_kendall_b", "cor(method = 'kendall')", "stats", cor(judge, overall, method = "kendall"))
  record("judge_pearson", "cor", "stats", cor(judge, overall))
  record("judge_accuracy", "mean(judge == overall)", "base", mean(judge == overall))

  # Intervals on Fisher's scale, as if turns were independent; Bonett and Wright's error, then Fisher's.
  errors <- c(bw = sqrt((1 + rho^2 / 2) / (n - 3)), fisher = 1 / sqrt(n - 3))
  for (kind in names(errors)) {
    margin <- qnorm(.975) * errors[[kind]]
    record(paste0("judge_spearman_lo_", kind), "tanh(atanh(rho) - 1.96 se)", "stats", tanh(atanh(rho) - margin))
    record(paste0("judge_spearman_hi_", kind), "tanh(atanh(rho) + 1.96 se)", "stats", tanh(atanh(rho) + margin))
  }

  counts <- levels_table(judge, overall)
  f1 <- 2 * diag(counts) / (rowSums(counts) + colSums(counts))
  record("judge_macro_f1", "mean of 2 n_ii / (n_i. + n_.i)", "base", mean(f1))
  kappa <- vcd::Kappa(counts, weights = "Fleiss-Cohen")$Weighted[["value"]]
  record("judge_kappa_quad", "vcd::Kappa(weights = 'Fleiss-Cohen')$Weighted", "vcd", kappa)
  record("judge_mae", "mean(abs(judge - overall))", "base", mean(abs(judge - overall)))

  # Levels that five or more participants gave: how often each is recognized, and by how much more than by chance.
  given_by <- tapply(rated$participant, factor(overall, LEVELS), function(people) length(unique(people)))
  recalls <- (diag(counts) / colSums(counts))[given_by >= 5]
  record("judge_mean_recall", "mean of n_ii / n_.i", "base", mean(recalls))
  above_chance <- mean(recalls) - 1 / length(recalls)
  record("judge_mean_recall_above_chance", "mean of n_ii / n_.i, minus 1 / K", "base", above_chance)
  what_judge_rests_on(rated)
  calibrated_judge(rated)
}

# The judge's rank correlation within participants, between them, and given another column.
what_judge_rests_on <- function(rated) {
  people <- as.numeric(factor(rated$participant))
  by_participant <- psych::statsBy(data.frame(rated[c("judge", "overall")], people), "people", method = "spearman")
  within <- by_participant$rwg["judge.wg", "overall.wg"]
  record("judge_spearman_within", "psych::statsBy(method = 'spearman')$rwg", "psych", within)
  means <- round(by_participant$mean, 9)
  between <- cor(means[, "judge"], means[, "overall"], method = "spearman")
  record("judge_spearman_between", "cor(psych::statsBy()$mean, method = 'spearman')", "stats", between)
  given <- rated[!is.na(rated$Affective), c("judge", "overall", "Affective")]
  partial <- psych::partial.r(given, 1:2, 3, method = "spearman")["judge", "overall"]
  record("judge_spearman_given_Affective", "psych::partial.r(method = 'spearman')", "psych", partial)
}

# Scores mapped to the scale of the ratings by isotonic regression, each participant's by what the others teach: of ten
# participants, so that each is a fold of ten.
calibrated_judge <- function(rated) {
  rows <- rated[rated$participant %in% sort(unique(rated$participant))[1:10], ]
  rows$calibrated <- NA
  for (participant in unique(rows$participant)) {
    held_out <- rows$participant == participant
    fit <- isoreg(rows$judge[!held_out], rows$overall[!held_out])
    mapped <- approx(sort(fit$x), fit$yf, rows$judge[held_out], rule = 2, ties = mean)
    rows$calibrated[held_out] <- mapped$y
  }
  scores <- list(as_given = rows$judge, isotonic = round(rows$calibrated, 9))
  for (name in names(scores)) {
    score <- scores[[name]]
    errors <- tapply(rows$overall - score, round(score), sum)  # by level
    error <- sum(abs(errors)) / nrow(rows)
    record(paste0("calibration_error_", name), "isoreg; sum(abs(tapply(sum))) / n", "stats", error)
    rho <- cor(score, rows$overall, method = "spearman")
    record(paste0("calibration_spearman_", name), "isoreg; cor(method = 'spearman')", "stats", rho)
    error <- mean(abs(score - rows$overall))
    record(paste0("calibration_mean_absolute_error_", name), "isoreg; mean(abs())", "base", error)
  }
}


# ---- Alternative annotator test -------------------------------------------------------------------------------------

# The seven ratings of a conversation are the annotators, its overall rating is the judge.
alternative_annotators <- function(tasks) {
  annotators <- as.matrix(tasks[DIMENSIONS])
  distance <- function(rating, others) sqrt(rowMeans((rating - others)^2))
  losses <- list()  # wins of each annotator minus those of the judge
  for (name in DIMENSIONS) {
    others <- annotators[, DIMENSIONS != name]
    of_judge <- distance(tasks$overall, others)
    of_annotator <- distance(annotators[, name], others)
    losses[[name]] <- (of_annotator <= of_judge) - (of_judge <= of_annotator)
    record(paste0("alternative_advantage_", name), "mean", "base", mean(of_judge <= of_annotator))
  }
  for (epsilon in c(0.07, 0.2)) {
    p <- vapply(losses, function(loss) t.test(loss, mu = epsilon, alternative = "less")$p.value, numeric(1))
    call <- paste0("t.test(mu = ", epsilon, ", alternative = 'less')$p.value")
    record_each(paste0("alternative_p_", epsilon, "_"), call, "stats", p)
    rate <- mean(p.adjust(p, "BY") <= .05)
    record(paste0("alternative_winning_rate_", epsilon), "mean(p.adjust(method = 'BY') <= .05)", "stats", rate)
  }
}



# ---- Intraclass correlations ----------------------------------------------------------------------------------------

intraclass_correlations <- function(turns) {
  # ICC(1) of the participant from a one-way analysis of variance; n0 is the mean group size where sizes differ.
  rated <- turns[!is.na(turns$overall), ]
  table <- anova(aov(overall ~ factor(participant), rated))
  between <- table[["Mean Sq"]][1]
  within <- table[["Mean Sq"]][2]
  sizes <- base::table(rated$participant)
  n0 <- (sum(sizes) - sum(sizes^2) / sum(sizes)) / (length(sizes) - 1)
  icc <- (between - within) / (between + (n0 - 1) * within)
  record("icc1_anova_participant", "anova(aov): (MSB - MSW) / (MSB + (n0 - 1) MSW)", "stats", icc)
  record("icc1_anova_n0", "n0 of unequal groups", "stats", n0)
}


# ---- Linear mixed models --------------------------------------------------------------------------------------------

record_mixed <- function(fit, name) {
  call <- paste0("lme4::lmer(", deparse1(formula(fit)), if (lme4::isREML(fit)) "" else ", REML = FALSE", ")")
  variances <- as.data.frame(lme4::VarCorr(fit))
  for (place in seq_len(nrow(variances))) {
    record(paste0(name, "_var_", variances$grp[place]), paste(call, "VarCorr"), "lme4", variances$vcov[place])
  }
  record(paste0(name, "_logLik"), paste(call, "logLik"), "lme4", logLik(fit))
  fixed <- lme4::fixef(fit)
  errors <- sqrt(diag(as.matrix(vcov(fit))))
  for (term in names(fixed)) {
    record(paste0(name, "_b_", term), paste(call, "fixef"), "lme4", fixed[[term]])
    record(paste0(name, "_se_", term), paste(call, "sqrt(diag(vcov))"), "lme4", errors[[term]])
  }
}

mixed_models <- function(turns, tasks) {
  turns$pm <- interaction(turns$participant, turns$model, drop = TRUE)  # participant by condition
  null <- lme4::lmer(overall ~ 1 + (1 | participant) + (1 | conversation), turns)
  record_mixed(null, "lmm_null")
  nested <- lme4::lmer(overall ~ model + (1 | participant) + (1 | conversation), turns)
  record_mixed(nested, "lmm_pc")
  full <- lmerTest::lmer(overall ~ model + (1 | participant) + (1 | pm) + (1 | conversation), turns)
  record_mixed(full, "lmm_pmc")
  crossed <- lme4::lmer(overall ~ 1 + (1 | participant) + (1 | model) + (1 | conversation), turns)
  record_mixed(crossed, "lmm_modelrandom")

  f <- anova(full)
  record("lmm_F_model_satt", "anova(lmerTest::lmer)$F value", "lmerTest", f[["F value"]])
  record("lmm_dendf_model_satt", "anova(lmerTest::lmer)$DenDF", "lmerTest", f$DenDF)
  record("lmm_p_model_satt", "anova(lmerTest::lmer)$Pr(>F)", "lmerTest", f[["Pr(>F)"]])
  pairs_of_conditions(full)

  after <- lme4::lmer(overall ~ model + (1 | participant), tasks)
  record_mixed(after, "lmm_post")
}

pairs_of_conditions <- function(fit) {
  means <- emmeans::emmeans(fit, "model")
  shown <- as.data.frame(means)
  for (place in seq_len(nrow(shown))) {
    record(paste0("emmean_", shown$model[place]), "emmeans::emmeans(lmer)$emmean", "emmeans", shown$emmean[place])
  }
  pairs <- as.data.frame(summary(pairs(means), adjust = "holm"))
  call <- "pairs(emmeans::emmeans(lmer), adjust = 'holm')"
  for (place in seq_len(nrow(pairs))) {
    name <- gsub(" ", "", pairs$contrast[place])
    record(paste0("contrast_", name), paste0(call, "$estimate"), "emmeans", pairs$estimate[place])
    record(paste0("contrast_se_", name), paste0(call, "$SE"), "emmeans", pairs$SE[place])
    record(paste0("contrast_df_", name), paste0(call, "$df"), "emmeans", pairs$df[place])
    record(paste0("contrast_p_holm_", name), paste0(call, "$p.value"), "emmeans", pairs$p.value[place])
  }
}

# Generalizability study: one row per turn and dimension, the dimensions crossed with participants. The variance of the
# dimensions is estimated as zero, which lme4 announces as a singular fit.
generalizability <- function(turns) {
  long <- do.call(rbind, lapply(DIMENSIONS, function(name) {
    data.frame(
      participant = turns$participant,
      conversation = turns$conversation,
      tid = paste(turns$conversation, turns$turn),
      item = name,
      pit = paste(turns$participant, name),
      rating = turns[[name]]
    )
  }))
  long <- long[!is.na(long$rating), ]
  fit <- lme4::lmer(
    rating ~ 1 + (1 | participant) + (1 | conversation) + (1 | tid) + (1 | item) + (1 | pit), long
  )
  record_mixed(fit, "gstudy")
}


# ---- Cumulative models ----------------------------------------------------------------------------------------------

record_cumulative <- function(fit, name, call) {
  record_each(paste0(name, "_b_"), paste0(call, " coef"), "ordinal", coef(fit))
  for (part in names(fit$ST)) {
    deviation <- sqrt(ordinal::VarCorr(fit)[[part]])
    record(paste0(name, "_sd_", part), paste0(call, " VarCorr"), "ordinal", deviation)
  }
  record(paste0(name, "_logLik"), paste0(call, " logLik"), "ordinal", fit$logLik)
}

cumulative_models <- function(turns) {
  rated <- turns[!is.na(turns$overall), ]
  rated$level <- factor(rated$overall, ordered = TRUE)

  random <- level ~ model + (1 | participant) + (1 | conversation)
  probit <- ordinal::clmm(random, rated, link = "probit")
  # From its default start values the optimizer fails with the logit link on these data. A logistic variable is about
  # 1.72 times a normal one: the probit estimates, scaled by it, are near enough.
  deviations <- sqrt(c(ordinal::VarCorr(probit)$conversation, ordinal::VarCorr(probit)$participant))
  start <- list(1.72 * coef(probit), 1.72 * deviations)
  logit <- ordinal::clmm(random, rated, start = start)
  call <- "ordinal::clmm(level ~ model + (1 | participant) + (1 | conversation))"
  record_cumulative(logit, "clmm", call)
  errors <- sqrt(diag(vcov(logit)))
  record_each("clmm_se_", paste(call, "sqrt(diag(vcov))"), "ordinal", errors[names(coef(logit))])
  call <- "ordinal::clmm(level ~ model + (1 | participant) + (1 | conversation), link = 'probit')"
  record_cumulative(probit, "clmm_probit", call)

  null <- ordinal::clmm(level ~ 1 + (1 | participant) + (1 | conversation), rated, link = "probit")
  call <- "ordinal::clmm(level ~ 1 + (1 | participant) + (1 | conversation), link = 'probit') logLik"
  record("clmm_probit_null_logLik", call, "ordinal", null$logLik)
  record("clmm_probit_lrt_model", "2 * (logLik(clmm) - logLik(null))", "ordinal", 2 * (probit$logLik - null$logLik))

  participants <- ordinal::clmm(level ~ model + (1 | participant), rated)
  record_cumulative(participants, "clmm1", "ordinal::clmm(level ~ model + (1 | participant))")

  fixed <- ordinal::clm(level ~ model, data = rated)
  record_each("clm_b_", "ordinal::clm(level ~ model) coef", "ordinal", coef(fixed))
  record("clm_logLik", "ordinal::clm(level ~ model) logLik", "ordinal", fixed$logLik)
}


# ---- Ratings of a participant that agree ----------------------------------------------------------------------------

# Each participant's conversations have the participant's mean; then plus 0.01 in one and minus it in the next. Without
# any noise lme4 does not converge, and nlme gives eight times the variance: it is that of the participants' means.
agreement_within_participants <- function(tasks) {
  record("lmm_exact_var_participant", "var(tapply(mean))", "stats", var(tapply(tasks$overall, tasks$participant, mean)))
  number <- ave(seq_along(tasks$participant), tasks$participant, FUN = seq_along)
  tasks$near <- ave(tasks$overall, tasks$participant) + 0.01 * (-1)^number
  record_mixed(lme4::lmer(near ~ 1 + (1 | participant), tasks), "lmm_near")
}


# ---- What breaks empathy --------------------------------------------------------------------------------------------

# Loss of each turn's next turn, and of the turn itself: mean level of the conversation's other rated turns minus it.
with_losses <- function(turns) {
  losses_of <- function(level, turn) {
    place <- seq_along(level)
    others <- vapply(place, function(t) mean(level[-c(t, t + 1)], na.rm = TRUE), numeric(1))
    following <- ifelse(turn[place + 1] == turn + 1, level[place + 1], NA)
    data.frame(next_turn = others - following, same_turn = others - level)
  }
  rated <- rowMeans(turns[DIMENSIONS], na.rm = TRUE)
  turns$next_turn <- turns$same_turn <- NA_real_
  for (rows in split(seq_len(nrow(turns)), turns$conversation)) {
    turns$next_turn[rows] <- losses_of(rated[rows], turns$turn[rows])$next_turn
    turns$same_turn[rows] <- losses_of(turns$overall[rows], turns$turn[rows])$same_turn
  }
  for (name in DIMENSIONS) {
    turns[[name]] <- as.numeric(turns[[name]] %in% 1:2)  # a failure
  }
  turns
}

continuity <- function(turns) {
  turns <- with_losses(turns)
  record_losses(lm(next_turn ~ Relational, turns), turns, list(loss_after_failure = c(0, 1)))
  others <- setdiff(DIMENSIONS, "Relational")
  mean_of_others <- c(0, rep(1 / length(others), length(others)), 0)
  relational <- c(rep(0, length(DIMENSIONS)), 1)
  next_turn <- lm(reformulate(c(others, "Relational"), "next_turn"), turns)
  contrasts <- list(
    contrast_next_turn = relational - mean_of_others,
    failure_next_turn = relational,
    others_next_turn = mean_of_others
  )
  record_losses(next_turn, turns, contrasts)
  same_turn <- lm(reformulate(c(others, "Relational"), "same_turn"), turns)
  record_losses(same_turn, turns, list(contrast_same_turn = relational - mean_of_others))
}

# Contrasts of the coefficients, and their percentile intervals from resampled participants.
record_losses <- function(fit, turns, contrasts) {
  columns <- cbind(model.matrix(fit), model.response(model.frame(fit)))
  participant <- turns[rownames(model.frame(fit)), "participant"]
  products <- t(sapply(split.data.frame(columns, participant), crossprod))  # one row per participant
  outcome <- ncol(columns)
  of_resample <- function(products, taken) {
    sums <- matrix(colSums(products[taken, ]), outcome)
    coefficients <- solve(sums[-outcome, -outcome], sums[-outcome, outcome])
    vapply(contrasts, function(contrast) sum(contrast * coefficients), numeric(1))
  }
  set.seed(1)
  resampled <- boot::boot(products, of_resample, R = 20000)
  call <- paste0("lm(", deparse1(formula(fit)), ")")
  for (place in seq_along(contrasts)) {
    name <- names(contrasts)[place]
    record(paste0("continuity_", name), call, "stats", sum(contrasts[[place]] * coef(fit)))
    limits <- boot::boot.ci(resampled, index = place, type = "perc")$percent[4:5]
    method <- paste0("boot::boot.ci(boot::boot(participants, ", call, "), type = 'perc')")
    record(paste0("continuity_low_", name), method, "boot", limits[1])
    record(paste0("continuity_high_", name), method, "boot", limits[2])
  }
}

# Unmet expectations. In golden.xlsx all wished for the same, so a wish is made of the number of the conversation.
expectations <- function(turns, tasks) {
  level <- tapply(rowMeans(turns[DIMENSIONS], na.rm = TRUE), turns$conversation, mean, na.rm = TRUE)
  tasks$mean <- as.vector(level[tasks$conversation])
  wish <- 1 + as.numeric(substring(tasks$conversation, 2)) %% 3
  tasks$low <- as.numeric(round(tasks$mean, 9) < 3.5)
  tasks$high <- as.numeric(wish == 3)
  tasks$unmet <- tasks$low * tasks$high
  tasks$outcome <- rowMeans(tasks[DIMENSIONS])
  models <- list(
    difference = outcome ~ unmet + (1 | participant),
    difference_adjusted = outcome ~ unmet + mean + (1 | participant),
    loss = outcome ~ unmet + low + high + mean + (1 | participant)
  )
  for (name in names(models)) {
    fit <- lmerTest::lmer(models[[name]], tasks)
    coefficient <- as.numeric(names(lme4::fixef(fit)) == "unmet")
    loss <- lmerTest::contest1D(fit, -coefficient, confint = TRUE)
    call <- paste0("lmerTest::contest1D(lmer(", deparse1(models[[name]]), "), confint = TRUE)")
    record(paste0("expectation_", name), paste0(call, "$Estimate"), "lmerTest", loss[["Estimate"]])
    record(paste0("expectation_low_", name), paste0(call, "$lower"), "lmerTest", loss$lower)
    record(paste0("expectation_high_", name), paste0(call, "$upper"), "lmerTest", loss$upper)
  }
}


# ---- Conversations with a poor turn ---------------------------------------------------------------------------------

with_poor_turns <- function(turns, tasks) {
  poor <- tapply(turns$overall <= 2, turns$conversation, sum, na.rm = TRUE)
  tasks$poor_turns <- as.vector(poor[tasks$conversation])
  tasks
}

standardized_differences <- function(tasks) {
  none <- tasks$overall[tasks$poor_turns == 0]
  kinds <- list(any_vs_none = tasks$poor_turns >= 1, one_vs_none = tasks$poor_turns == 1)
  for (kind in names(kinds)) {
    poor <- tasks$overall[kinds[[kind]]]
    d <- effectsize::cohens_d(none, poor, pooled_sd = TRUE)
    record(paste0("d_", kind), "effectsize::cohens_d(pooled_sd = TRUE)", "effectsize", d$Cohens_d)
    record(paste0("n_none_", kind), "length", "base", length(none))
    record(paste0("n_poor_", kind), "length", "base", length(poor))
  }

  # Within participants: those who had conversations of both kinds.
  without <- tapply(tasks$overall[tasks$poor_turns == 0], tasks$participant[tasks$poor_turns == 0], mean)
  with <- tapply(tasks$overall[tasks$poor_turns > 0], tasks$participant[tasks$poor_turns > 0], mean)
  both <- intersect(names(without), names(with))
  without <- without[both]
  with <- with[both]
  difference <- without - with
  record("d_z_participant", "mean(difference) / sd(difference)", "stats", mean(difference) / sd(difference))
  average <- sqrt((var(without) + var(with)) / 2)
  record("d_av_participant", "mean(difference) / sqrt((var1 + var2) / 2)", "stats", mean(difference) / average)
  record("d_participant_n", "length", "base", length(both))

  tasks$poor <- as.numeric(tasks$poor_turns > 0)
  fit <- lme4::lmer(overall ~ poor + (1 | participant), tasks)
  variance <- sum(as.data.frame(lme4::VarCorr(fit))$vcov)
  loss <- lme4::fixef(fit)[["poor"]]
  call <- "lme4::lmer(overall ~ poor + (1 | participant))"
  record("d_lmm_total", paste(call, "-b / sqrt(total variance)"), "lme4", -loss / sqrt(variance))
  record("d_lmm_b", paste(call, "fixef"), "lme4", loss)
  record("d_lmm_se", paste(call, "sqrt(diag(vcov))"), "lme4", sqrt(vcov(fit)["poor", "poor"]))
}


# The same with the overall ratings of the turns as the outcome: of all turns, and of those that are not poor.
differences_of_turns <- function(turns) {
  rated <- turns[!is.na(turns$overall), ]
  poor <- tapply(rated$overall <= 2, rated$conversation, any)
  better <- rated[rated$overall > 2, ]
  outcomes <- list(
    overall = tapply(rated$overall, rated$conversation, mean),
    overall_not_poor = tapply(better$overall, better$conversation, mean)
  )
  for (name in names(outcomes)) {
    outcome <- outcomes[[name]]
    has_poor <- poor[names(outcome)]
    d <- effectsize::cohens_d(as.vector(outcome[!has_poor]), as.vector(outcome[has_poor]), pooled_sd = TRUE)
    record(paste0("d_", name), "effectsize::cohens_d(pooled_sd = TRUE)", "effectsize", d$Cohens_d)
  }
}


# ---- Characteristics of the participants ----------------------------------------------------------------------------

characteristics <- function(turns, participants) {
  rated <- turns[!is.na(turns$overall), ]
  level <- as.vector(tapply(rated$overall, rated$participant, mean)[participants$PID])
  traits <- paste0("trait", 1:12)
  rho <- p <- setNames(numeric(length(traits)), traits)
  for (trait in traits) {
    found <- suppressWarnings(cor.test(participants[[trait]], level, method = "spearman", exact = FALSE))
    rho[trait] <- found$estimate
    p[trait] <- found$p.value
  }
  call <- "cor.test(method = 'spearman', exact = FALSE)"
  record_each("char_rho_", paste0(call, "$estimate"), "stats", rho)
  record_each("char_p_", paste0(call, "$p.value"), "stats", p)
  record_each("char_bh_", "p.adjust(method = 'BH')", "stats", p.adjust(p, "BH"))
  record("char_by_trait1", "p.adjust(method = 'BY')", "stats", p.adjust(p, "BY")[["trait1"]])
}


# ---- All of it ------------------------------------------------------------------------------------------------------

main <- function(folder, target) {
  tasks <- read_tasks(folder)
  turns <- read_turns(folder)
  scores <- read.csv(file.path(folder, "judge_turns.csv"))
  key <- function(table) paste(table$conversation, table$turn)
  turns$judge <- scores$judge[match(key(turns), key(scores))]
  per_turn <- turns[DIMENSIONS]
  complete <- per_turn[complete.cases(per_turn), ]
  post <- tasks[DIMENSIONS]

  counts(turns, tasks)
  internal_consistency(per_turn, "turn_pairwise")
  internal_consistency(complete, "turn_listwise")
  internal_consistency(per_turn[DIMENSIONS[1:6]], "turn_6dims_pairwise")
  internal_consistency(post, "post")
  one_factor(complete, "turn_listwise")
  one_factor(post, "post")
  one_factor_within(turns[complete.cases(per_turn), ])
  agreement(turns)
  judge_metrics(turns)
  alternative_annotators(tasks)
  intraclass_correlations(turns)
  mixed_models(turns, tasks)
  generalizability(turns)
  cumulative_models(turns)
  agreement_within_participants(tasks)
  continuity(turns)
  expectations(turns, tasks)
  standardized_differences(with_poor_turns(turns, tasks))
  differences_of_turns(turns)
  characteristics(turns, read_participants(folder))

  write.csv(do.call(rbind, recorded), target, row.names = FALSE, quote = 2)
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) {
  message("One argument is needed: the file to write, as in Rscript tests/reference/reference.R VALUES.csv")
  quit(status = 2)
}
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
main(dirname(normalizePath(script)), arguments)
