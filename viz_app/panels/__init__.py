"""The three panels of the Translate page: the sentence, all heads, one head."""
