"""How good a model is: loss and perplexity, BLEU and chrF, each named as what it is."""
